// Interpolation of columns to levels of a coordinate that varies.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "history/configuration/table.hpp"

namespace thalweg::history {

/// A value that marks missing values; a NaN marks them by any NaN.
struct MissingMark {
    bool used = false;  ///< false: no value is missing
    double value = 0;

    bool is(double x) const { return used && (value != value ? x != x : x == value); }
};

/// Some columns, in an array in which the levels of a column are adjacent.
struct Columns {
    std::int64_t count = 0, levels = 0;
    const double* values = nullptr;
    MissingMark missing;

    const double& value(std::int64_t column, std::int64_t level) const {
        return values[column * levels + level];
    }
    bool misses(std::int64_t column, std::int64_t level) const {
        return missing.is(value(column, level));
    }
};

/// Interpolates columns between the two levels that enclose each wanted value; if the coordinate is
/// not monotonic, between the first such two. A result is missing if no two levels enclose its
/// value, or if the field is missing at one of them whose share is not 0. LevelMethod::conservative
/// gives the mean of the parts of the column's layers that lie within each wanted layer.
/// @param inputs   field and coordinate (for layers: their interfaces, one more than layers); then,
///                 as Levels::below needs them, pressure and geopotential of the surface, with one
///                 level, and temperature
/// @param missing  value of missing results
/// @param results, column_step, level_step  receives the results, with these distances
void interpolate(const Levels& levels, std::span<const Columns> inputs, double missing,
                 double* results, std::int64_t column_step, std::int64_t level_step);

}  // namespace thalweg::history
