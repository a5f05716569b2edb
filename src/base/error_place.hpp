// Where an error happened, as its text tells it: texts have one grammar, "PATH: variable 'NAME' of
// record N ... (rank N)", which all ranks get alike.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace thalweg::detail {

struct ErrorPlace {
    std::string file, variable;  ///< empty: of none
    std::int64_t record = -1;    ///< as the text counts them; -1: of none
    int rank = -1;               ///< -1: of none, or of all
};

/// @param file  of the call, where it is known
ErrorPlace find_place(std::string_view text, std::string_view file = {});

}  // namespace thalweg::detail
