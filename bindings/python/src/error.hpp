// From a failed call to thalweg.Error, and from Python's text to C's.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <thalweg/thalweg.h>

#include <string>
#include <string_view>

namespace thalweg::python {

namespace nb = nanobind;

/// What a call was about, for the attributes of the exception.
struct About {
    std::string_view file = {};
    std::string_view variable = {};
    bool collective = false;  ///< every rank raises the same exception
};

/// The class thalweg.Error; set once by the Python layer.
void set_error_class(nb::object type);

/// Raises thalweg.Error with this text. The caller holds the GIL.
[[noreturn]] void raise_error(int code, const std::string& text, const About& about);

/// A C function's result, with its text taken before another thread can make a call.
struct Outcome {
    int code = TW_OK;
    std::string text;
};

/// Makes a call without the GIL. It must not touch Python's objects, nor throw.
template <class F>
Outcome without_gil(tw_session session, F&& call) {
    nb::gil_scoped_release release;
    Outcome outcome{call(), {}};
    if (outcome.code != TW_OK) {
        const char* text = tw_error_message(session);
        outcome.text = text == nullptr || *text == '\0' ? tw_strerror(outcome.code) : text;
    }
    return outcome;
}

inline void check(const Outcome& outcome, const About& about) {
    if (outcome.code != TW_OK) raise_error(outcome.code, outcome.text, about);
}

}  // namespace thalweg::python
