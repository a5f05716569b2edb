// What went wrong: a code of the public table and the full text.
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

/// Takes no memory.
inline Status out_of_memory() { return {TW_ENOMEM, "out of memory"}; }

/// Describes the exception that is being handled: TW_ENOMEM, or TW_EINTERNAL with its text.
Status exception_status() noexcept;

/// Runs what a rank does by itself before all agree. An exception becomes a status: the other ranks
/// would wait for this one in vain.
template <class Do>
Status alone(Do&& act) {
    try {
        return act();
    } catch (const std::exception&) {
        return exception_status();
    }
}

/// No memory on all ranks alike: they have agreed on it, and none waits for another.
class NoMemoryAnywhere : public std::bad_alloc {};

/// What ranks do together: that all of them have no memory is a status, that one has none is not.
template <class Do>
Status together(Do&& act) {
    try {
        return act();
    } catch (const NoMemoryAnywhere&) {
        return out_of_memory();
    }
}

}  // namespace thalweg::detail
