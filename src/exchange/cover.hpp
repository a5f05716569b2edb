// What the ranks of a node want of a variable together.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "decomposition/decomposition.hpp"

namespace thalweg::detail {

/// Boxes that share no element and together are all the given ones, sorted by position. Halos and
/// replicated variables make boxes overlap; what several ranks want, their node needs once. So do
/// lists of the same dimensions; what lists and boxes have in common, or lists of different
/// dimensions, is there more than once: together they may be more than the variable.
std::vector<HeldBox> cover(std::span<const HeldBox> boxes, std::span<const std::int64_t> shape);

}  // namespace thalweg::detail
