// SPDX-License-Identifier: Apache-2.0
#include "history/levels/interpolate.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace thalweg::history {

namespace {

/// Tests if the coordinate of a column rises (1), falls (-1), or does neither (0).
int direction_of(const Columns& coordinate, std::int64_t i) {
    const double* const x = &coordinate.value(i, 0);
    const std::int64_t pairs = coordinate.levels - 1;
    std::int64_t rises = 0, falls = 0, missing = 0;
    for (std::int64_t k = 0; k < pairs; ++k) {
        rises += x[k] < x[k + 1] ? 1 : 0;
        falls += x[k] > x[k + 1] ? 1 : 0;
    }
    for (std::int64_t k = 0; k <= pairs && coordinate.missing.used; ++k)
        missing += coordinate.misses(i, k) ? 1 : 0;
    return missing > 0 ? 0 : (rises == pairs) - (falls == pairs);
}

bool encloses(const MissingMark& missing, double a, double b, double wanted) {
    return ((a <= wanted && wanted <= b) || (a >= wanted && wanted >= b)) && !missing.is(a) &&
           !missing.is(b);
}

/// Returns the share of the second of two levels in the result for a wanted value between them.
double share_of(bool is_log, double a, double b, double wanted) {
    if (wanted == a) return 0;
    if (wanted == b) return 1;
    return is_log ? std::log(wanted / a) / std::log(b / a) : (wanted - a) / (b - a);
}

/// Acceleration of gravity in m s-2, gas constant of dry air in J kg-1 K-1, and lapse rate of the
/// standard atmosphere in K m-1.
constexpr double gravity = 9.80665, dry_air = 287.0597, lapse_rate = 0.0065;

/// The lowest level of a column, and the surface below it.
struct Ground {
    double pressure, value, temperature, surface_pressure, geopotential;
};

/// Extrapolates a temperature or a geopotential below the lowest level, as the IFS of ECMWF does
/// ("Post-processing to pressure levels" in Part II of its documentation; Trenberth, Berry and
/// Buja, 1993, NCAR/TN-396+STR), in the form of CDO's ml2plx. Down to the surface the temperature
/// tends to that which follows from the lapse rate, moderated if it is cold or hot; below, the
/// lapse rate is such that the temperature at sea level is moderate, too, and 0 if that is no
/// warmer.
double extrapolate(const Levels& levels, const Ground& at, double wanted) {
    const bool is_temperature = levels.below == Below::temperature;
    const double height = at.geopotential / gravity, warming = lapse_rate * height;
    const double plain = at.temperature * (1 + lapse_rate * dry_air / gravity *
                                                   (at.surface_pressure / at.pressure - 1));
    double surface = plain < 255 ? (plain + 255) / 2 : plain, sea = surface + warming;
    if (sea > 290.5) sea = surface > 290.5 ? surface = (surface + 290.5) / 2 : 290.5;
    const double unit = levels.below == Below::height ? gravity : 1;
    if (wanted <= at.surface_pressure) {
        const double share =
            share_of(levels.method == LevelMethod::log, at.pressure, at.surface_pressure, wanted);
        return (1 - share) * at.value + share * (is_temperature ? surface : at.geopotential / unit);
    }
    if (is_temperature) {
        surface = plain;
        sea = plain + warming;
        if (height > 2000 && sea > 298) sea += (298 - sea) * std::min((height - 2000) / 500, 1.0);
    }
    const double rise = sea - surface, depth = std::log(wanted / at.surface_pressure);
    const bool flat = is_temperature ? rise < 1e-6 : std::abs(rise) < 1e-6;
    const double y = flat ? 0 : dry_air * rise / at.geopotential * depth;
    return is_temperature
               ? surface * (1 + y * (1 + y * (0.5 + y / 6)))
               : (at.geopotential - dry_air * surface * depth * (1 + y * (0.5 + y / 6))) / unit;
}

/// Returns the value of a column below its lowest level that is not missing; `missing` if the
/// wanted value is not below it.
double value_below(const Levels& levels, std::span<const Columns> inputs, std::int64_t i,
                   double wanted, double missing) {
    const Columns &field = inputs[0], &coordinate = inputs[1], &temperature = inputs.back();
    std::int64_t low = -1;
    double least = 0;
    for (std::int64_t k = 0; k < field.levels; ++k) {
        const double height = (levels.up ? 1 : -1) * coordinate.value(i, k);
        if (field.misses(i, k) || coordinate.misses(i, k) || (low >= 0 && height >= least))
            continue;
        low = k;
        least = height;
    }
    if (low < 0 || !((levels.up ? 1 : -1) * wanted <= least)) return missing;
    if (levels.below == Below::constant) return field.value(i, low);
    const Columns& warm = levels.below == Below::temperature ? field : temperature;
    if (inputs[2].misses(i, 0) || inputs[3].misses(i, 0) || warm.misses(i, low)) return missing;
    return extrapolate(levels,
                       {coordinate.value(i, low), field.value(i, low), warm.value(i, low),
                        inputs[2].value(i, 0), inputs[3].value(i, 0)},
                       wanted);
}

void conserve(const Levels& levels, const Columns& field, const Columns& interfaces, double missing,
              double* results, std::int64_t column_step, std::int64_t level_step) {
    std::vector<double> sums(field.count), widths(field.count);
    for (std::int64_t j = 0; j < levels.size(); ++j) {
        const auto [low, high] = std::minmax(levels.values[j], levels.values[j + 1]);
        std::ranges::fill(sums, 0);
        std::ranges::fill(widths, 0);
        for (std::int64_t k = 0; k < field.levels; ++k)
            for (std::int64_t i = 0; i < field.count; ++i) {
                const double a = interfaces.value(i, k), b = interfaces.value(i, k + 1);
                const double width = std::min(std::max(a, b), high) - std::max(std::min(a, b), low);
                if (!(width > 0) || field.misses(i, k) || interfaces.missing.is(a) ||
                    interfaces.missing.is(b))
                    continue;
                sums[i] += width * field.value(i, k);
                widths[i] += width;
            }
        for (std::int64_t i = 0; i < field.count; ++i)
            results[i * column_step + j * level_step] =
                widths[i] > 0 ? sums[i] / widths[i] : missing;
    }
}

/// Moves from a level to the first of the two adjacent ones between which a wanted value lies, if
/// there are such.
/// @param direction  as direction_of() returns it
std::int64_t find_level(const Columns& coordinate, std::int64_t i, int direction, double wanted,
                        std::int64_t k) {
    const double* const x = &coordinate.value(i, 0);
    const std::int64_t last = coordinate.levels - 2;
    if (direction == 0) {
        for (k = 0; k < last && !encloses(coordinate.missing, x[k], x[k + 1], wanted);) ++k;
        return k;
    }
    const auto move = [&](auto is_before) {
        while (k < last && is_before(x[k + 1])) ++k;
        while (k > 0 && !is_before(x[k])) --k;
        return k;
    };
    return direction > 0 ? move([=](double level) { return level < wanted; })
                         : move([=](double level) { return level >= wanted; });
}

}  // namespace

void interpolate(const Levels& levels, std::span<const Columns> inputs, double missing,
                 double* results, std::int64_t column_step, std::int64_t level_step) {
    if (levels.conserves())
        return conserve(levels, inputs[0], inputs[1], missing, results, column_step, level_step);
    const Columns field = inputs[0], coordinate = inputs[1];
    const bool is_log = levels.method == LevelMethod::log;
    const bool extrapolates = levels.below != Below::missing;
    for (std::int64_t i = 0; i < field.count; ++i) {
        const int direction = direction_of(coordinate, i);
        std::int64_t k = 0;
        double* to = results + i * column_step;
        for (const double wanted : levels.values) {
            k = find_level(coordinate, i, direction, wanted, k);
            const double a = coordinate.value(i, k), b = coordinate.value(i, k + 1);
            double result = missing;
            if (encloses(coordinate.missing, a, b, wanted) && !(is_log && std::min(a, b) <= 0)) {
                const double share = share_of(is_log, a, b, wanted);
                const double x = field.value(i, k), y = field.value(i, k + 1);
                if ((share == 0 || !field.missing.is(y)) && (share == 1 || !field.missing.is(x)))
                    result = share == 0 ? x : share == 1 ? y : (1 - share) * x + share * y;
            }
            if (extrapolates && result == missing)
                result = value_below(levels, inputs, i, wanted, missing);
            *to = result;
            to += level_step;
        }
    }
}

}  // namespace thalweg::history
