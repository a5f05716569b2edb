// Measures methods in turn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "method.hpp"

namespace pio_bench {

// Times of the slowest rank in seconds, and its memory.
struct Sample {
    double decompose = 0;  // seconds to make all decompositions of one file
    double open = 0;       // seconds to create the file and define its variables
    double calls = 0;      // seconds in calls that write a step; with a file for each step, in all
                           // calls
    double closed = 0;     // seconds in `calls` and in closing, until the file is complete
    double resident = 0;   // peak memory in bytes at the end, on the rank with the largest
};

struct Row {
    std::string method;
    std::vector<Sample> samples;
    double first_decompose = 0;  // seconds to make the first decomposition, when nothing is cached
    std::int64_t file_bytes = 0;
    std::int64_t wrong = -1;  // number of wrong values; -1: not checked
    int same = -1;            // 1 if the file has the same bytes as that of the first method, 0 if
                              // not; -1: unknown
};

std::vector<Row> measure(const Context& context);

}  // namespace pio_bench
