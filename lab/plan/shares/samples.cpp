// SPDX-License-Identifier: Apache-2.0
#include "plan/shares/samples.hpp"

#include <cmath>

namespace thalweg::planning {

std::int64_t sample(std::int64_t i, std::int64_t n, std::int64_t all) {
    return n == 1 ? all / 2 : i * (all - 1) / (n - 1);
}

/// Uses multiples of the golden section, which are distributed evenly, but not at equal distances.
std::int64_t irregular_sample(std::int64_t i, std::int64_t n, std::int64_t all) {
    if (n == all) return i;
    const double turns = 0.6180339887498949 * (i + 1);
    return (turns - std::floor(turns)) * all;
}

}  // namespace thalweg::planning
