// Smallest, largest and mean value of a variable, read by all ranks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "in_session.hpp"

namespace thalweg::app {

struct Statistics {
    std::int64_t values = 0;   ///< those that are neither missing nor NaN
    std::int64_t missing = 0;  ///< those equal to _FillValue, missing_value or a default fill value
    std::int64_t nan = 0;
    double minimum = 0, maximum = 0, mean = 0;  ///< those of `values`; as stored, not unpacked
    std::string unreadable;                     ///< reason why there are none; empty if there are
};

/**
 * Computes the statistics of each variable, in the order of the file. Ranks take turns at blocks of
 * a variable, and the sums are added in the order of the blocks: the result does not depend on the
 * number of ranks.
 * @note Collective; the result is on rank 0
 */
std::vector<Statistics> find_statistics(Reader& file, const Ranks& ranks);

}  // namespace thalweg::app
