// SPDX-License-Identifier: Apache-2.0
#include "error.hpp"

namespace thalweg::python {

namespace {
// Never destroyed: it would be after the interpreter.
nb::object& error_class() {
    static auto* type = new nb::object();
    return *type;
}
}  // namespace

void set_error_class(nb::object type) { error_class() = std::move(type); }

void raise_error(int code, const std::string& text, const About& about) {
    const auto bytes = [](std::string_view s) {
        // Names of files and variables may be any bytes.
        return nb::steal<nb::object>(
            PyUnicode_DecodeUTF8(s.data(), static_cast<Py_ssize_t>(s.size()), "backslashreplace"));
    };
    nb::object error = error_class()(code, bytes(text), bytes(about.file), bytes(about.variable),
                                     about.collective);
    PyErr_SetObject(error.type().ptr(), error.ptr());
    throw nb::python_error();
}

}  // namespace thalweg::python
