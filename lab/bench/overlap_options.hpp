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

/// A way of output while the model computes.
struct Way {
    std::string name;                ///< for example "inline", "serial", "servers:2" or "peer-
                                     ///< pnetcdf"
    std::string service;             ///< "none", "pack", or a service of the library
    int servers = 0;                 ///< number of ranks in addition to the model's
    std::optional<MethodInfo> peer;  ///< method of another library, if the row uses one
    std::string settings;            ///< additional settings of the library

    bool writes() const { return service != "none" && service != "pack"; }
    bool library() const { return writes() && !peer; }
};

struct OverlapOptions {
    Options base;
    int ranks = 0;  ///< number of ranks of the model
    std::vector<Way> ways;
    std::vector<Computing> computing;
    double compute_seconds = -1;  ///< seconds of computing in a step; negative: those of the
                                  ///< workload's pace
    int every = 1;                ///< number of computing steps between two outputs
    int steps_per_file = 0;       ///< 0: all steps in one file
    /// Bytes per second if there is a single writer; 0: the same limit as for several.
    std::int64_t serial_bandwidth = 0;
    bool print_ranks = false;

    /// Returns the number of ranks to start: the ranks of the model and, besides them, as many
    /// servers as the row with most servers needs.
    int all_ranks() const;
};

/// Parses "thalweg-bench overlap ...", like parse_options(). Throws UsageError.
Parsed parse_overlap_options(int argc, char** argv, OverlapOptions& options, std::string& text);

}  // namespace thalweg::bench
