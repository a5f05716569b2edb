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
    int fields = 12;                                ///< float variables, with all levels
    int steps = 5;                                  ///< in a file
    int repetitions = 9;
    std::string folder = ".";  ///< for the files, which are removed
};

/**
 * Measures methods in turn. Every rank holds a band of latitudes in the order (lat, lev, lon) and
 * writes it to files in the order (lev, lat, lon). Rank 0 prints a table of the seconds of a step
 * in a session that goes on, and of what the first file of a run costs beyond its steps.
 * @return the exit status; 1 if a method wrote another file than the first method
 * @note Collective over MPI_COMM_WORLD
 */
int compare(const CompareOptions& options);

}  // namespace thalweg::app
