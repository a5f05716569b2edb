// The place of an error, found in its text. Texts follow one grammar, "PATH: variable 'NAME' of
// record N ... (rank N)", and are the same on all ranks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace thalweg::detail {

struct ErrorPlace {
    std::string file, variable;  ///< empty if the error concerns none
    std::int64_t record = -1;    ///< as the text counts records; -1: none
    int rank = -1;               ///< -1: none, or all
};

/// @param file  file of the call, if known
ErrorPlace find_place(std::string_view text, std::string_view file = {});

}  // namespace thalweg::detail
