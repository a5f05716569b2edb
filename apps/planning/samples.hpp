// Picks the writers and pieces that the model samples.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace thalweg::planning {

/// Returns the i-th of n samples of `all`, at equal distances, the first and the last included.
std::int64_t sample(std::int64_t i, std::int64_t n, std::int64_t all);

/// Returns the i-th of n samples of `all` at irregular distances: regular ones may coincide with
/// those of levels in the file.
std::int64_t irregular_sample(std::int64_t i, std::int64_t n, std::int64_t all);

}  // namespace thalweg::planning
