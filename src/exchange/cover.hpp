// The union of the elements that the ranks of a node read of a variable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "decomposition/decomposition.hpp"

namespace thalweg::detail {

/// Returns boxes that share no element and together are all the given ones, sorted by position:
/// halos and replicated variables make boxes overlap, and a node needs each element once. Lists of
/// the same dimensions are united, too. Elements that lists share with boxes, or with lists of
/// other dimensions, stay more than once: together they may be more than the variable.
std::vector<HeldBox> cover(std::span<const HeldBox> boxes, std::span<const std::int64_t> shape);

}  // namespace thalweg::detail
