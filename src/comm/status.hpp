// What went wrong: a code of the public table and the full text.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/core.h>

#include <new>
#include <string>
#include <utility>

#include "thalweg/thalweg.h"

namespace thalweg::detail {

struct [[nodiscard]] Status {
    int code = TW_OK;
    std::string text;

    bool ok() const { return code == TW_OK; }
    explicit operator bool() const { return ok(); }
};

template <class... Args>
Status failure(int code, fmt::format_string<Args...> text, Args&&... args) {
    return {code, fmt::vformat(text, fmt::make_format_args(args...))};
}

/// What a rank does by itself before all agree: that it runs out of memory is told to the others,
/// who would wait for it in vain. The text takes no memory.
template <class Do>
Status alone(Do&& act) {
    try {
        return act();
    } catch (const std::bad_alloc&) {
        return failure(TW_ENOMEM, "out of memory");
    }
}

}  // namespace thalweg::detail
