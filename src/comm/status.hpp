// What went wrong: a code of the public table and the full text.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

#include "thalweg/thalweg.h"

namespace thalweg {

struct [[nodiscard]] Status {
    int code = TW_OK;
    std::string text;

    bool ok() const { return code == TW_OK; }
    explicit operator bool() const { return ok(); }
};

template <class... Args>
Status failure(int code, fmt::format_string<Args...> text, Args&&... args) {
    return {code, fmt::format(text, std::forward<Args>(args)...)};
}

}  // namespace thalweg
