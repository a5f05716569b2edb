// The command line.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pio_bench {

struct Options {
    std::string workload;
    std::vector<std::string> methods;  // names of methods; empty: all
    std::string iotype = "pnetcdf";
    std::string folder = ".";
    std::string json;
    int steps = 0;  // 0: as many as the workload has
    int repetitions = 5;
    int warmup = 1;
    int io_tasks = 1;
    int variables = 0;  // 0: as many as the workload has
    int decompositions = 10;
    std::int64_t elements = 1000000;
    int syncs = 0;       // nonzero: sync the file after each step
    double compute = 0;  // seconds of computing between two steps
    bool verify = false;
};

// Parses the command line. Throws std::runtime_error with a line for the user.
Options parse_options(int argc, char** argv);

std::string help();

}  // namespace pio_bench
