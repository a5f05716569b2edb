// Measures what a history costs, as multiples of the plain loop and of tw_put.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "measurement.hpp"
#include "options.hpp"

namespace thalweg::bench {

/// Prints a table. @note Collective
void measure_history(const RankGroup& ranks, const Options& options);

}  // namespace thalweg::bench
