// Measures methods in turn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "method.hpp"

namespace pio_bench {

// Seconds of the slowest rank.
struct Sample {
    double decompose = 0;  // making all decompositions of one file
    double open = 0;       // creating the file and defining its variables
    double calls = 0;      // in the calls that write a step; with a file per step, in all calls
    double closed = 0;     // `calls` and the close, until the file is complete
    double resident = 0;   // peak memory of the largest rank at the end, in bytes
};

struct Row {
    std::string method;
    std::vector<Sample> samples;
    double first_decompose = 0;  // seconds of the first decomposition, with nothing cached
    std::int64_t file_bytes = 0;
    std::int64_t wrong = -1;  // number of wrong values; -1: not checked
    int same = -1;            // the file has the same bytes as the first method's; -1: unknown
};

std::vector<Row> measure(const Context& context);

}  // namespace pio_bench
