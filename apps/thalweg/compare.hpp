// Measures how fast each method writes here, compared with plain writes of the same bytes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace thalweg::app {

struct CompareOptions {
    std::vector<std::string> methods{"serial", "direct", "slabs", "record"};
    std::vector<std::int64_t> shape{288, 181, 26};  ///< longitudes, latitudes, levels
    int fields = 12;                                ///< of floats, with all levels
    int steps = 2;                                  ///< in a file
    int repetitions = 5;
    std::string folder = ".";  ///< for the files, which are removed
};

/**
 * Every rank holds a band of latitudes in the order (lat, lev, lon) and writes it to files in the
 * order (lev, lat, lon). The first round of all methods warms up memory and disk and is not
 * counted. Rank 0 prints a table: the median of the slowest rank's seconds, and its ratio to plain
 * writes, in which each rank writes one contiguous part of the same bytes.
 * @return the exit status; 1 if a method failed, or wrote another file than the first method
 * @note Collective over MPI_COMM_WORLD
 */
int compare(const CompareOptions& options);

}  // namespace thalweg::app
