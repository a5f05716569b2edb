// Matches a decomposition's dimensions with those of a variable: by name, in any order, or by
// position.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "decomposition/decomposition.hpp"

namespace thalweg::detail {

/// Finds the memory dimension that corresponds to each dimension of a variable, except the record
/// dimension.
/// @param dims, shape  dimensions of the variable, slowest first
/// @param order        receives, for each of them, the corresponding dimension of the decomposition
Status match_dimensions(const Decomposition& decomposition, std::span<const std::string> dims,
                        std::span<const std::int64_t> shape, std::vector<int>& order);

}  // namespace thalweg::detail
