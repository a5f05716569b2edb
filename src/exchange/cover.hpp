// The union of the elements that the ranks of a node read of a variable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "decomposition/decomposition.hpp"

namespace thalweg::detail {

/// Returns boxes that share no element and together contain all the given ones, sorted by position.
/// Halos and replicated variables make boxes overlap, but a node needs each element once. Lists of
/// the same dimensions are united as well. Elements that a list shares with a box, or with a list
/// of other dimensions, are not removed: the result may have more elements than the variable.
std::vector<HeldBox> cover(std::span<const HeldBox> boxes, std::span<const std::int64_t> shape);

}  // namespace thalweg::detail
