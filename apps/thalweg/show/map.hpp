// A map of a variable: averages of its values, from the top of the map to the bottom.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "in_session.hpp"

namespace thalweg::app {

struct Map {
    std::int64_t rows = 0, columns = 0;
    std::vector<double> values;  ///< values, top row first; NaN: no value
    double least = std::numeric_limits<double>::infinity();
    double most = -std::numeric_limits<double>::infinity();
    std::string title;                     ///< name of the variable, and indices along its other
                                           ///< dimensions
    std::string top, bottom, left, right;  ///< coordinates of the edges

    double at(std::int64_t row, std::int64_t column) const {
        return values[static_cast<std::size_t>(row * columns + column)];
    }

    /// Returns the level of a value, from 0 for the smallest value to levels - 1 for the largest.
    int level_of(double value, int levels) const;
};

/**
 * Reads a map of the last two dimensions of a variable, in the last record and at the first index
 * of the other dimensions. Reads one row of the file for each row of the map.
 * @param columns  largest number of columns
 * @return the map, the same on every rank. Throws Error (TW_ENOTFOUND, TW_ESHAPE, TW_ETYPE) on
 *         every rank
 * @note Collective
 */
Map read_map(Reader& file, const std::string& name, std::int64_t columns, const Ranks& ranks);

}  // namespace thalweg::app
