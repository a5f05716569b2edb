// SPDX-License-Identifier: Apache-2.0
#include "error.hpp"

namespace thalweg::python {

namespace {
// Returns the exception class. It is never destroyed, because the interpreter has ended before
// static objects are destroyed.
nb::object& error_class() {
    static auto* type = new nb::object();
    return *type;
}
}  // namespace

void set_error_class(nb::object type) { error_class() = std::move(type); }

void raise_error(const Outcome& outcome, const About& about) {
    const auto bytes = [](std::string_view s) {
        // Decodes any bytes, as names of files and variables need not be UTF-8.
        return nb::steal<nb::object>(
            PyUnicode_DecodeUTF8(s.data(), static_cast<Py_ssize_t>(s.size()), "backslashreplace"));
    };
    const auto number = [](std::int64_t n) { return n < 0 ? nb::none() : nb::object(nb::int_(n)); };
    nb::object error = error_class()(
        outcome.code, bytes(outcome.text),
        bytes(about.file.empty() ? std::string_view(outcome.file) : about.file),
        bytes(about.variable.empty() ? std::string_view(outcome.variable) : about.variable),
        about.collective, number(outcome.record), number(outcome.rank));
    PyErr_SetObject(error.type().ptr(), error.ptr());
    throw nb::python_error();
}

void raise_error(int code, const std::string& text, const About& about) {
    Outcome outcome;
    outcome.code = code;
    outcome.text = text;
    raise_error(outcome, about);
}

}  // namespace thalweg::python
