// The arguments of thalweg-scale: "name=value" each.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "options.hpp"

namespace thalweg::scale {

struct Arguments {
    bench::Options workload;  ///< options workload, grid, scale, nx, ny, nz and variables
    std::string settings;     ///< settings of the session, in the form of tw_init
    std::string file = "scale.nc";
    std::string json;  ///< path of the report; empty: standard output
    int steps = 2;
    double compute = 0;         ///< seconds of computing in each step, during which ranks sleep
    std::string puts = "step";  ///< step: tw_put and tw_end_step; record: tw_put_record, box:
                                ///< tw_put_box, and tw_sync
    bool copies = true;         ///< tw_put; else puts with TW_DEFERRED
    bool read = false;          ///< read the last record back
    bool restart = false;       ///< write the variables as a restart, and read it
    bool fields = false;        ///< each element has its own value; otherwise all are zero and
                                ///< take no memory
};

/// Parses the arguments. Throws bench::UsageError for an invalid one.
Arguments read_arguments(int argc, char** argv);

}  // namespace thalweg::scale
