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
        // The library keeps the addresses of the arrays, but uses them only in calls on this
        // restart, which are impossible from now on.
        if (session_->handle == nullptr) return;
        for (auto& [name, held] : arrays_) session_->kept.push_back(std::move(held));
    }
    Restart(const Restart&) = delete;
    Restart& operator=(const Restart&) = delete;

    /// Returns a file that stands for the restart's definitions.
    nb::object definitions() const {
        tw_file file = nullptr;
        call({}, {}, false, [&] { return tw_restart_file(restart_, &file); });
        return file_object(session_, file, {});
    }
    void add(const std::string& name, const std::string& dims, const Decomposition* d,
             nb::handle values, int flags) {
        const bool copied = (flags & TW_COPIED) != 0;
        Array a = array_of(values, copied ? Access::read : Access::write);
        tw_decomposition held = handle_of(d);
        call({}, name, false, [&] {
            return tw_restart_add_array(restart_, name.c_str(), dims.c_str(), held, a.view(),
                                        flags);
        });
        if (copied)
            arrays_.erase(name);
        else
            arrays_[name] = std::move(a.held);
    }
    /// Writes the arrays.
    /// @param path  none if this rank's arguments are invalid, so that the call fails on all ranks;
    ///              the same holds for read() and open()
    void write(std::optional<std::string> path) {
        call(path.value_or(""), {}, true,
             [&] { return tw_restart_write(restart_, path ? path->c_str() : nullptr); });
    }
    void read(std::optional<std::string> path) { read_into(path, nullptr); }
    /// Reads the arrays as read() does, but leaves the file open.
    nb::object open(std::optional<std::string> path) {
        tw_file file = nullptr;
        read_into(path, &file);
        return file_object(session_, file, *path);
    }
    /// Returns the address of the C handle, for histories.
    std::uintptr_t handle() const {
        (void)session_->get();
        return reinterpret_cast<std::uintptr_t>(restart_);
    }
    void free() {
        if (restart_ == nullptr || session_->handle == nullptr) return;
        call({}, {}, false, [&] { return tw_restart_free(&restart_); });
        arrays_.clear();
    }

private:
    void read_into(const std::optional<std::string>& path, tw_file* file) {
        call(path.value_or(""), {}, true,
             [&] { return tw_restart_read(restart_, path ? path->c_str() : nullptr, file); });
    }
    template <class F>
    void call(std::string_view path, std::string_view variable, bool collective, F&& body) const {
        tw_session s = session_->get();
        if (restart_ == nullptr) raise_error(TW_EHANDLE, "the restart was freed", {});
        check(without_gil(s, body), {path, variable, collective});
    }

    SessionRef session_;
    tw_restart restart_ = nullptr;
    std::map<std::string, Held> arrays_;  ///< arrays whose addresses the library keeps
};

}  // namespace

void bind_restart(nb::module_& module) {
    nb::class_<Restart>(module, "Restart")
        .def(nb::init<const Session&, std::optional<std::string>>(), nb::arg("session"),
             nb::arg("settings").none())
        .def("definitions", &Restart::definitions)
        .def("add", &Restart::add, nb::arg("name"), nb::arg("dims"),
             nb::arg("decomposition").none(), nb::arg("values"), nb::arg("flags"))
        .def("write", &Restart::write, nb::arg("path").none())
        .def("read", &Restart::read, nb::arg("path").none())
        .def("open", &Restart::open, nb::arg("path").none())
        .def("handle", &Restart::handle)
        .def("free", &Restart::free);
}

}  // namespace thalweg::python
