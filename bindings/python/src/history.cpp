// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "session.hpp"

namespace thalweg::python {

namespace {

/// A field of a history. It is valid as long as the history.
class Field {
public:
    Field(SessionRef session, tw_field field, std::string name)
        : session_(std::move(session)), field_(field), name_(std::move(name)) {}

    bool wanted() const { return session_->handle != nullptr && tw_wants(field_) != 0; }
    void send(nb::handle values, std::optional<double> weight) {
        tw_session s = session_->get();
        const Array a = array_of(values, Access::read);
        const double* const own = weight ? &*weight : nullptr;
        check(without_gil(s, [&] { return tw_send_array(field_, a.view(), own); }),
              {{}, name_, false});
    }
    void send_block(int block, nb::handle values) {
        tw_session s = session_->get();
        const Array a = array_of(values, Access::read);
        if (!a.contiguous()) throw nb::type_error("the array of a block is not contiguous");
        check(without_gil(
                  s, [&] { return tw_send_block(field_, block, a.type, a.data(), a.elements()); }),
              {{}, name_, false});
    }

private:
    SessionRef session_;
    tw_field field_;
    std::string name_;
};

class History {
public:
    /// @param config  configuration; none if this rank's arguments are invalid, so that the call
    ///                fails on all ranks
    History(const Session& session, std::optional<std::string> config, const std::string& calendar,
            const std::string& start, const std::string& settings)
        : session_(session.state()) {
        call(true, [&] {
            return tw_history_open(session_->handle, config ? config->c_str() : nullptr,
                                   calendar.c_str(), start.c_str(), settings.c_str(), &history_);
        });
    }
    History(const History&) = delete;
    History& operator=(const History&) = delete;

    void coordinate(const std::string& name, const std::string& dims, const Decomposition* d,
                    nb::handle values, const std::string& attributes) {
        const Array a = array_of(values, Access::read);
        tw_decomposition held = handle_of(d);
        call(false, [&] {
            return tw_history_coordinate(history_, name.c_str(), dims.c_str(), held, a.view(),
                                         attributes.c_str());
        });
    }
    Field* field(const std::string& name, int type, const std::string& dims, const Decomposition* d,
                 const std::string& attributes) {
        tw_decomposition held = handle_of(d);
        tw_field made = nullptr;
        call(false, [&] {
            return tw_history_field(history_, name.c_str(), static_cast<tw_type>(type),
                                    dims.c_str(), held, attributes.c_str(), &made);
        });
        return new Field(session_, made, name);
    }
    void ready() {
        call(true, [&] { return tw_history_ready(history_); });
    }
    void time(double seconds) {
        call(false, [&] { return tw_history_time(history_, seconds); });
    }
    void end_step() {
        call(true, [&] { return tw_history_end_step(history_); });
    }
    /// @param restart  address of the C handle
    void save(std::uintptr_t restart) {
        call(true,
             [&] { return tw_history_save(history_, reinterpret_cast<tw_restart>(restart)); });
    }
    void load(std::uintptr_t file) {
        call(true, [&] { return tw_history_load(history_, reinterpret_cast<tw_file>(file)); });
    }
    std::int64_t memory() {
        std::int64_t now = 0;
        call(false, [&] { return tw_history_memory(history_, &now, nullptr); });
        return now;
    }
    void close() {
        if (history_ == nullptr || session_->handle == nullptr) return;
        call(true, [&] { return tw_history_close(&history_); });
    }

private:
    template <class F>
    void call(bool collective, F&& body) {
        tw_session s = session_->get();
        check(without_gil(s, body), {{}, {}, collective});
    }

    SessionRef session_;
    tw_history history_ = nullptr;
};

}  // namespace

void bind_history(nb::module_& module) {
    nb::class_<Field>(module, "Field")
        .def_prop_ro("wanted", &Field::wanted)
        .def("send", &Field::send, nb::arg("values"), nb::arg("weight").none())
        .def("send_block", &Field::send_block);
    nb::class_<History>(module, "History")
        .def(nb::init<const Session&, std::optional<std::string>, const std::string&,
                      const std::string&, const std::string&>(),
             nb::arg("session"), nb::arg("config").none(), nb::arg("calendar"), nb::arg("start"),
             nb::arg("settings"))
        .def("coordinate", &History::coordinate, nb::arg("name"), nb::arg("dims"),
             nb::arg("decomposition").none(), nb::arg("values"), nb::arg("attributes"))
        .def("field", &History::field, nb::arg("name"), nb::arg("type"), nb::arg("dims"),
             nb::arg("decomposition").none(), nb::arg("attributes"))
        .def("ready", &History::ready)
        .def("time", &History::time)
        .def("end_step", &History::end_step)
        .def("save", &History::save)
        .def("load", &History::load)
        .def("memory", &History::memory)
        .def("close", &History::close);
}

}  // namespace thalweg::python
