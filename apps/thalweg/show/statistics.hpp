// Smallest, largest and mean value of a variable, read by all ranks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "in_session.hpp"

namespace thalweg::app {

struct Statistics {
    std::int64_t values = 0;  ///< number of values that are neither missing nor NaN
    /// Number of values that are equal to _FillValue, missing_value or a default fill value.
    std::int64_t missing = 0;
    std::int64_t nan = 0;
    /// Statistics of the counted values as they are stored, without scale factor and offset.
    double minimum = 0, maximum = 0, mean = 0;
    /// Reason why there are no statistics; empty if there are some.
    std::string unreadable;
};

/**
 * Computes the statistics of each variable, in the order of the file. The ranks divide the blocks
 * of a variable among them. Sums are added in the order of the blocks, so that the result does not
 * depend on the number of ranks.
 * @note Collective; the result is on rank 0
 */
std::vector<Statistics> find_statistics(Reader& file, const Ranks& ranks);

}  // namespace thalweg::app
