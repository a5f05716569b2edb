// Converts failed calls to thalweg.Error, and Python's text to C's.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <thalweg/thalweg.h>

#include <string>
#include <string_view>

namespace thalweg::python {

namespace nb = nanobind;

/// The objects that a call is about, for the attributes of the exception.
struct About {
    std::string_view file = {};
    std::string_view variable = {};
    bool collective = false;  ///< every rank raises the same exception
};

/// Sets the class thalweg.Error. The Python part of the package calls it once.
void set_error_class(nb::object type);

/// The result of a C function, and the details of its error. The details are copied before another
/// thread can make a call.
struct Outcome {
    int code = TW_OK;
    std::string text;
    std::string file, variable;  ///< empty if the error concerns no file or variable
    std::int64_t record = -1;
    int rank = -1;

    /// Copies the details after an error.
    /// @param session  null for a call without a session
    void take(tw_session session) {
        const char *said = tw_error_message(session), *of_file = "", *of_variable = "";
        text = said == nullptr || *said == '\0' ? tw_strerror(code) : said;
        if (tw_error_place(session, &of_file, &of_variable, &record, &rank) != TW_OK) return;
        file = of_file;
        variable = of_variable;
    }
};

/// Raises thalweg.Error. The caller holds the GIL.
/// @param about  details that the outcome lacks
[[noreturn]] void raise_error(const Outcome& outcome, const About& about);
[[noreturn]] void raise_error(int code, const std::string& text, const About& about);

/// Makes a call without the GIL. The call must not use Python objects, and must not throw.
template <class F>
Outcome without_gil(tw_session session, F&& call) {
    nb::gil_scoped_release release;
    Outcome outcome;
    outcome.code = call();
    if (outcome.code != TW_OK) outcome.take(session);
    return outcome;
}

inline void check(const Outcome& outcome, const About& about) {
    if (outcome.code != TW_OK) raise_error(outcome, about);
}

}  // namespace thalweg::python
