// The place of an error, found in its text. Texts follow one grammar, "PATH: variable 'NAME' of
// record N ... (rank N)", and are the same on all ranks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace thalweg::detail {

struct ErrorPlace {
    std::string file, variable;  ///< empty if the error concerns no file or no variable
    std::int64_t record = -1;    ///< number as in the text; -1: the error concerns no record
    int rank = -1;               ///< -1: the error concerns no rank, or all
};

/// @param file  file of the call, if known
ErrorPlace find_place(std::string_view text, std::string_view file = {});

}  // namespace thalweg::detail
