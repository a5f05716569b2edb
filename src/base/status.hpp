// The result of a call: a code of the public table and the full text of the error.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/core.h>

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "thalweg/thalweg.h"

namespace thalweg::detail {

struct [[nodiscard]] Status {
    tw_status code = TW_OK;
    std::string text;

    bool ok() const { return code == TW_OK; }
    explicit operator bool() const { return ok(); }
};

template <class... Args>
Status failure(tw_status code, fmt::format_string<Args...> text, Args&&... args) {
    return {code, fmt::vformat(text, fmt::make_format_args(args...))};
}

/// Returns TW_ENOMEM without allocating memory.
inline Status out_of_memory() { return {TW_ENOMEM, "out of memory"}; }

/// Describes the exception that is being handled: TW_ENOMEM, or TW_EINTERNAL with its text.
Status exception_status() noexcept;

/// Runs the part of a call that a rank does alone before all ranks agree. An exception becomes a
/// status: otherwise the other ranks would wait for this one forever.
template <class Do>
Status alone(Do&& act) {
    try {
        return act();
    } catch (const std::exception&) {
        return exception_status();
    }
}

/// Thrown if memory ran out and all ranks have agreed on that, so that none waits for another.
class NoMemoryAnywhere : public std::bad_alloc {};

/// Runs a collective part. If memory ran out and all ranks know it, returns a status. Any other
/// exception on one rank is not caught.
template <class Do>
Status together(Do&& act) {
    try {
        return act();
    } catch (const NoMemoryAnywhere&) {
        return out_of_memory();
    }
}

}  // namespace thalweg::detail
