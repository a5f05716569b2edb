// Interpolation of columns to levels of a coordinate that varies.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "history/configuration/table.hpp"

namespace thalweg::history {

/// Some columns in an array; marks that are not 0 say that a value is missing.
struct Columns {
    std::int64_t count = 0, levels = 0;
    std::int64_t column_step = 0, level_step = 0;  ///< distances in the array
    double* values = nullptr;
    unsigned char* missing = nullptr;

    double& value(std::int64_t column, std::int64_t level) const {
        return values[column * column_step + level * level_step];
    }
    bool misses(std::int64_t column, std::int64_t level) const {
        return missing[column * column_step + level * level_step] != 0;
    }
};

/// Interpolates columns between the two levels that enclose each wanted value; if the coordinate is
/// not monotonic, between the first such two. A result is missing if no two levels enclose its
/// value, or if the field is missing at one of them whose share is not 0.
/// @param missing  value of missing results
void interpolate(const Levels& levels, const Columns& field, const Columns& coordinate,
                 double missing, const Columns& results);

}  // namespace thalweg::history
