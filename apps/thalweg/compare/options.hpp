// Options of thalweg compare.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace thalweg::app {

struct CompareOptions {
    std::vector<std::string> methods{"serial", "direct", "slabs", "record"};
    std::vector<std::int64_t> shape{288, 181, 26};  ///< numbers of longitudes, latitudes and levels
    /// Number of variables. They are floats and have all levels.
    int fields = 12;
    int steps = 5;  ///< number of steps in a file
    int repetitions = 9;
    std::string folder = ".";  ///< folder for the files, which are removed at the end
};

}  // namespace thalweg::app
