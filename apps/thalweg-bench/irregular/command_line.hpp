// The command line of thalweg-bench irregular.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "options.hpp"

namespace thalweg::bench::irregular {

struct IrregularOptions {
    Options base;
    std::vector<std::string> files;      ///< maps to read
    std::vector<int> chosen;             ///< their decompositions; empty: all
    std::vector<std::string> generated;  ///< maps to make
    std::int64_t elements = 10'000'000;  ///< of each of these
    std::uint64_t seed = 1;
    int variables = 0;     ///< 0: 8, or 3 of more than a million elements
    double patience = 30;  ///< seconds of a run after which a method is not repeated
};

/// "thalweg-bench irregular ...". Throws UsageError.
Parsed parse_options(int argc, char** argv, IrregularOptions& options, std::string& text);

}  // namespace thalweg::bench::irregular
