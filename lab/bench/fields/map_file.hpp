// Reads the decompositions of a file of the E3SM-IO benchmark.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "fields/lists.hpp"
#include "measurement.hpp"

namespace thalweg::bench {

/// Reads the decompositions `chosen` (empty: all). With another number of ranks than the file's,
/// rank r of P gets its lists r, r + P, ... Throws UsageError.
/// @note Collective
std::vector<IndexMap> read_maps(const RankGroup& ranks, const std::string& path,
                                const std::vector<int>& chosen);

}  // namespace thalweg::bench
