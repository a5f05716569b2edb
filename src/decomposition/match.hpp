// How a decomposition's dimensions are those of a variable: by their names, in any order, or by
// position.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "decomposition/decomposition.hpp"

namespace thalweg::detail {

/// Finds the memory dimension of each dimension of a variable, the record dimension left out.
/// @param dims, shape  of the variable, slowest first
/// @param order        receives for each of them its place in the decomposition
Status match_dimensions(const Decomposition& decomposition, std::span<const std::string> dims,
                        std::span<const std::int64_t> shape, std::vector<int>& order);

}  // namespace thalweg::detail
