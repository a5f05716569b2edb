// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <utility>

#include "session.hpp"

namespace thalweg::python {

namespace {

class Restart {
public:
    Restart(const Session& session, std::optional<std::string> settings)
        : session_(session.state()) {
        tw_session s = session_->get();
        check(without_gil(s,
                          [&] {
                              return tw_restart_new(s, settings ? settings->c_str() : nullptr,
                                                    &restart_);
                          }),
              {{}, {}, true});
    }
    ~Restart() {
        // The library has the arrays' addresses, but only calls on this restart use them.
        if (session_->handle == nullptr) return;
        for (auto& [name, held] : arrays_) session_->kept.push_back(std::move(held));
    }
    Restart(const Restart&) = delete;
    Restart& operator=(const Restart&) = delete;

    void def_dim(const std::string& name, std::int64_t length) {
        call({}, {}, false, [&] { return tw_restart_def_dim(restart_, name.c_str(), length); });
    }
    void add(const std::string& name, const std::string& dims, const Decomposition* d,
             nb::handle values, int flags) {
        const bool copied = (flags & TW_COPIED) != 0;
        Array a = array_of(values, copied ? Access::read : Access::write);
        tw_decomposition held = handle_of(d);
        call({}, name, false, [&] {
            return tw_restart_add_strided(restart_, name.c_str(), a.type, dims.c_str(), held,
                                          a.data(), a.rank(), a.extent().data(), a.stride().data(),
                                          flags);
        });
        if (copied)
            arrays_.erase(name);
        else
            arrays_[name] = std::move(a.held);
    }
    void set_var(const std::string& var, const std::string& settings) {
        call({}, var, false,
             [&] { return tw_restart_set_var(restart_, var.c_str(), settings.c_str()); });
    }
    void put_att_text(const std::string& var, const std::string& name, const nb::bytes& text) {
        call({}, var, false, [&] {
            return tw_restart_put_att(restart_, var.c_str(), name.c_str(), TW_CHAR,
                                      static_cast<std::int64_t>(text.size()), text.c_str());
        });
    }
    void put_att(const std::string& var, const std::string& name, nb::handle values) {
        const Array a = array_of(values, Access::read);
        call({}, var, false, [&] {
            return tw_restart_put_att(restart_, var.c_str(), name.c_str(), a.type, a.elements(),
                                      a.data());
        });
    }
    /// Here and below, path is none if this rank's arguments are invalid: the call then fails on
    /// all ranks.
    void write(std::optional<std::string> path) {
        call(path.value_or(""), {}, true,
             [&] { return tw_restart_write(restart_, path ? path->c_str() : nullptr); });
    }
    void read(std::optional<std::string> path) {
        call(path.value_or(""), {}, true,
             [&] { return tw_restart_read(restart_, path ? path->c_str() : nullptr); });
    }
    void open(std::optional<std::string> path) {
        path_ = path.value_or("");
        call(path_, {}, true,
             [&] { return tw_restart_open(restart_, path ? path->c_str() : nullptr); });
    }
    void get(const std::string& name, const std::string& dims, const Decomposition* d,
             nb::handle out, int flags) {
        Array a = array_of(out, Access::write);
        tw_decomposition held = handle_of(d);
        call(path_, name, true, [&] {
            return tw_restart_get_strided(restart_, name.c_str(), a.type, dims.c_str(), held,
                                          a.data(), a.rank(), a.extent().data(), a.stride().data(),
                                          flags);
        });
    }
    /// What a rank without a usable array calls in place of get: always an error, on all ranks.
    void get_nothing(const std::string& name) {
        call(path_, name, true, [&] {
            return tw_restart_get(restart_, name.c_str(), no_type, "", nullptr, nullptr, -1, 0);
        });
    }
    void close() {
        call(path_, {}, true, [&] { return tw_restart_close(restart_); });
    }
    bool found(const std::string& name) {
        int found = 0;
        call(path_, name, false, [&] { return tw_restart_found(restart_, name.c_str(), &found); });
        return found != 0;
    }
    nb::tuple att(const std::string& var, const std::string& name) {
        tw_type type = TW_BYTE;
        std::int64_t n = 0;
        call(path_, var, false,
             [&] { return tw_restart_inq_att(restart_, var.c_str(), name.c_str(), &type, &n); });
        std::vector<char> bytes(static_cast<std::size_t>(n * size_of(type)));
        call(path_, var, false, [&] {
            return tw_restart_get_att(restart_, var.c_str(), name.c_str(), type, n, bytes.data());
        });
        return nb::make_tuple(static_cast<int>(type), nb::bytes(bytes.data(), bytes.size()));
    }
    void free() {
        if (restart_ == nullptr || session_->handle == nullptr) return;
        call({}, {}, false, [&] { return tw_restart_free(&restart_); });
        arrays_.clear();
    }

private:
    template <class F>
    void call(std::string_view path, std::string_view variable, bool collective, F&& body) {
        tw_session s = session_->get();
        if (restart_ == nullptr) raise_error(TW_EHANDLE, "the restart was freed", {});
        check(without_gil(s, body), {path, variable, collective});
    }

    SessionRef session_;
    tw_restart restart_ = nullptr;
    std::string path_;
    std::map<std::string, Held> arrays_;  ///< those whose addresses the library has
};

}  // namespace

void bind_restart(nb::module_& module) {
    nb::class_<Restart>(module, "Restart")
        .def(nb::init<const Session&, std::optional<std::string>>(), nb::arg("session"),
             nb::arg("settings").none())
        .def("def_dim", &Restart::def_dim)
        .def("add", &Restart::add, nb::arg("name"), nb::arg("dims"),
             nb::arg("decomposition").none(), nb::arg("values"), nb::arg("flags"))
        .def("set_var", &Restart::set_var)
        .def("put_att_text", &Restart::put_att_text)
        .def("put_att", &Restart::put_att)
        .def("write", &Restart::write, nb::arg("path").none())
        .def("read", &Restart::read, nb::arg("path").none())
        .def("open", &Restart::open, nb::arg("path").none())
        .def("get", &Restart::get, nb::arg("name"), nb::arg("dims"),
             nb::arg("decomposition").none(), nb::arg("out"), nb::arg("flags"))
        .def("get_nothing", &Restart::get_nothing)
        .def("close", &Restart::close)
        .def("found", &Restart::found)
        .def("att", &Restart::att)
        .def("free", &Restart::free);
}

}  // namespace thalweg::python
