// The result of a call: a code of the public table, the full text of the error, and its place.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "thalweg/thalweg.h"

namespace thalweg::detail {

struct ErrorLocation {
    std::string file, variable;  ///< names; empty if the error concerns no file or no variable
    /// Number of the record as in the text; -1 if the error concerns no record.
    std::int64_t record = -1;
    /// Number of the rank; -1 if the error concerns no rank, or all of them.
    int rank = -1;
    int system = 0;  ///< the system's number of the error; 0: the system is not the cause
};

struct [[nodiscard]] Status {
    tw_status code = TW_OK;
    std::string text;
    ErrorLocation place{};

    bool ok() const { return code == TW_OK; }
    explicit operator bool() const { return ok(); }
};

/// Arguments that are formatted into the text of an error and also become part of its place.
struct OfFile {
    std::string_view text;
    void note(ErrorLocation& place) const { place.file = text; }
};
struct OfVariable {
    std::string_view text;
    void note(ErrorLocation& place) const { place.variable = text; }
};
struct OfRecord {
    std::int64_t text;
    void note(ErrorLocation& place) const { place.record = text; }
};
struct OfRank {
    int text;
    void note(ErrorLocation& place) const { place.rank = text; }
};
struct OfSystem {
    std::string_view text;
    int number;
    void note(ErrorLocation& place) const { place.system = number; }
};

template <class T>
void note(ErrorLocation& place, const T& argument) {
    if constexpr (requires { argument.note(place); }) argument.note(place);
}

/// Returns what is formatted for an argument: the text in an OfFile and the like; other arguments
/// as they are.
template <class T>
const auto& plain(const T& argument) {
    if constexpr (requires(ErrorLocation & place) { argument.note(place); })
        return argument.text;
    else
        return argument;
}
template <class... Args>
using PlainFormat = fmt::format_string<decltype(plain(std::declval<const Args&>()))...>;

/// Adds file, variable, record and rank among the arguments to the place of an error.
template <class... Args>
Status about(Status status, const Args&... args) {
    (note(status.place, args), ...);
    return status;
}

template <class... Args>
Status failure(tw_status code, PlainFormat<Args...> text, const Args&... args) {
    return about({code, fmt::vformat(text, fmt::make_format_args(plain(args)...))}, args...);
}

/// Replaces the text of an error. The present text may be among the arguments.
template <class... Args>
void reword(Status& status, PlainFormat<Args...> text, const Args&... args) {
    status.text = fmt::vformat(text, fmt::make_format_args(plain(args)...));
    status = about(std::move(status), args...);
}

/// Encodes text and place of an error as bytes, for another process. If the bytes are cut off, only
/// the end of the text is lost.
std::string packed(const Status& status);
Status unpacked(tw_status code, std::string_view bytes);

/// Returns TW_ENOMEM. Allocates no memory.
inline Status out_of_memory() { return {TW_ENOMEM, "out of memory"}; }

/// Describes the exception that is being handled: TW_ENOMEM for a lack of memory, TW_EINTERNAL with
/// the exception's text for all others.
Status exception_status() noexcept;

/// Returns the status of a function; TW_OK if the function returns nothing.
template <class Do>
Status status_of(Do&& act) {
    if constexpr (std::is_void_v<decltype(act())>) {
        act();
        return {};
    } else {
        return act();
    }
}

/// Runs a part of a call that allocates large memory, before all ranks agree. Converts an exception
/// to a status. Smaller allocations are not guarded: if one fails, the job ends with a message.
template <class Do>
Status catch_errors(Do&& act) {
    try {
        return status_of(act);
    } catch (const std::exception&) {
        return exception_status();
    }
}

}  // namespace thalweg::detail
