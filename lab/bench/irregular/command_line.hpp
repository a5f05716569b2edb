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
    std::vector<std::string> files;  ///< paths of map files to read
    /// Numbers of the decompositions in these files to use; empty: all.
    std::vector<int> chosen;
    std::vector<std::string> generated;  ///< names of maps to be generated
    std::int64_t elements = 10'000'000;  ///< elements of each generated map
    std::uint64_t seed = 1;
    int variables = 0;     ///< 0: 8 variables, or 3 if a map has more than a million elements
    double patience = 30;  ///< methods whose run takes more seconds than this are not repeated
};

/// Parses "thalweg-bench irregular ...". Throws UsageError.
Parsed parse_options(int argc, char** argv, IrregularOptions& options, std::string& text);

}  // namespace thalweg::bench::irregular
