// What the ranks of a node want of a variable together.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "decomposition/decomposition.hpp"

namespace thalweg {

/// Boxes that share no element and together are all the given ones, sorted by position. Halos and
/// replicated variables make boxes overlap; what several ranks want, their node needs once.
std::vector<HeldBox> cover(std::span<const HeldBox> boxes, std::span<const std::int64_t> shape);

}  // namespace thalweg
