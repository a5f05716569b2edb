// The command line of thalweg-bench overlap.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compute.hpp"
#include "options.hpp"
#include "registry.hpp"

namespace thalweg::bench {

/// A way of getting output done beside the computing.
struct Way {
    std::string name;                ///< "inline", "serial", "servers:2", "peer-pnetcdf"
    std::string service;             ///< "none", "pack", or one of the library's
    int servers = 0;                 ///< ranks besides the model's
    std::optional<MethodInfo> peer;  ///< of another library
    std::string settings;            ///< more of the library's

    bool writes() const { return service != "none" && service != "pack"; }
    bool library() const { return writes() && !peer; }
};

struct OverlapOptions {
    Options base;
    int ranks = 0;  ///< of the model
    std::vector<Way> ways;
    std::vector<Computing> computing;
    double compute_seconds = -1;        ///< a step; negative: as the workload's pace says
    int every = 1;                      ///< steps of computing between two outputs
    int steps_per_file = 0;             ///< 0: all are in one
    std::int64_t serial_bandwidth = 0;  ///< bytes a second where one rank writes; 0: as the others
    bool print_ranks = false;

    /// How many ranks have to run: those of the model and the most servers of any row.
    int all_ranks() const;
};

/// As parse_options. Throws UsageError.
Parsed parse_overlap_options(int argc, char** argv, OverlapOptions& options, std::string& text);

}  // namespace thalweg::bench
