// SPDX-License-Identifier: Apache-2.0
#include "history/levels/interpolate.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace thalweg::history {

namespace {

/// Finds the columns whose coordinate rises (1), falls (-1), or does neither (0).
std::vector<signed char> directions(const Columns& coordinate) {
    const std::int64_t n = coordinate.count;
    std::vector<signed char> found(n);
    std::vector<unsigned char> rising(n, 1), falling(n, 1);
    for (std::int64_t k = 0; k + 1 < coordinate.levels; ++k)
        for (std::int64_t i = 0; i < n; ++i) {
            const double a = coordinate.value(i, k), b = coordinate.value(i, k + 1);
            const bool there = !coordinate.misses(i, k) & !coordinate.misses(i, k + 1);
            rising[i] &= static_cast<unsigned char>(there & (a < b));
            falling[i] &= static_cast<unsigned char>(there & (a > b));
        }
    for (std::int64_t i = 0; i < n; ++i)
        found[i] = static_cast<signed char>(rising[i] - falling[i]);
    return found;
}

/// Tests if a wanted value lies between a level and the next.
bool encloses(const Columns& coordinate, std::int64_t i, std::int64_t k, double wanted) {
    const double a = coordinate.value(i, k), b = coordinate.value(i, k + 1);
    return !coordinate.misses(i, k) && !coordinate.misses(i, k + 1) &&
           ((a <= wanted && wanted <= b) || (a >= wanted && wanted >= b));
}

/// Returns the share of the second of two levels in the result for a wanted value between them.
double share_of(bool is_log, double a, double b, double wanted) {
    if (wanted == a) return 0;
    if (wanted == b) return 1;
    return is_log ? std::log(wanted / a) / std::log(b / a) : (wanted - a) / (b - a);
}

}  // namespace

void interpolate(const Levels& levels, const Columns& field, const Columns& coordinate,
                 double missing, const Columns& results) {
    const std::vector<double>& wanted = levels.values;
    const std::int64_t all = std::ssize(wanted), pairs = field.levels - 1;
    const bool wanted_rises = wanted.front() < wanted.back();
    const std::vector<signed char> direction = directions(coordinate);
    for (std::int64_t i = 0; i < field.count; ++i) {
        const bool rising = direction[i] > 0;
        std::int64_t k = 0;
        for (std::int64_t n = 0; n < all; ++n) {
            // Take the wanted values in the column's order: each search begins at the last level.
            const std::int64_t j = rising == wanted_rises ? n : all - 1 - n;
            const double value = wanted[j];
            if (direction[i] == 0) {
                for (k = 0; k + 1 < pairs && !encloses(coordinate, i, k, value);) ++k;
            } else if (rising) {
                while (k + 1 < pairs && coordinate.value(i, k + 1) < value) ++k;
            } else {
                while (k + 1 < pairs && coordinate.value(i, k + 1) > value) ++k;
            }
            double& result = results.value(i, j) = missing;
            if (!encloses(coordinate, i, k, value)) continue;
            const double a = coordinate.value(i, k), b = coordinate.value(i, k + 1);
            const double share = share_of(levels.log, a, b, value);
            const double x = field.value(i, k), y = field.value(i, k + 1);
            if ((levels.log && std::min(a, b) <= 0) || (share < 1 && field.misses(i, k)) ||
                (share > 0 && field.misses(i, k + 1)))
                continue;
            result = share == 0 ? x : share == 1 ? y : (1 - share) * x + share * y;
        }
    }
}

}  // namespace thalweg::history
