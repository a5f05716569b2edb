// Packed values that were put.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "decomposition/decomposition.hpp"

namespace thalweg::detail {

/// The values of a held box that were put: in file order, dense, in the byte order of the file.
struct PackedValues {
    int variable = 0;
    std::int64_t record = 0;  ///< record of a record variable
    HeldBox held;
    std::int64_t at = 0;             ///< offset of the values, in bytes from a base
    const char* data = nullptr;      ///< address of the values
    std::optional<Box> within = {};  ///< the part of `held` that was put; otherwise all of it
};

}  // namespace thalweg::detail
