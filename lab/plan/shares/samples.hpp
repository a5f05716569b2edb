// Picks the writers and pieces that the model samples.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace thalweg::planning {

/// Returns the i-th of n samples among `all` items, at equal distances. The first and the last item
/// are included.
std::int64_t sample(std::int64_t i, std::int64_t n, std::int64_t all);

/// Returns the i-th of n samples among `all` items, at irregular distances. Samples at equal
/// distances could all be at the same place of a level.
std::int64_t irregular_sample(std::int64_t i, std::int64_t n, std::int64_t all);

}  // namespace thalweg::planning
