// The measurement of overlap: a model's loop of computing and output, by every way of output.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "overlap_options.hpp"

namespace thalweg::bench {

/// One run of a row: seconds and bytes, each of the rank that has most, but for the sum of the
/// processor time. Nothing but doubles, so that it is reduced as it is.
struct OverlapSample {
    double total = 0;      ///< all steps with the close
    double open = 0;       ///< before them
    double computing = 0;  ///< of the total
    double library = 0;    ///< of the total: handing over and ending the steps, or copies alone
    double close = 0;      ///< of the total
    double cpu = 0;        ///< of all ranks, servers included, during the total
    double peak = 0;       ///< growth of a model rank's resident memory over what it had before
    double peak_rss = 0;   ///< a model rank's peak, everything included
    double server_peak_rss = 0;
    double queue_waits = -1;  ///< negative: not known
    double queue_wait_seconds = -1;
};

struct OverlapRow {
    const Way* way = nullptr;
    Computing computing = Computing::sleep;
    std::vector<OverlapSample> samples;
    std::string note;  ///< why there are none
    std::string wrong;
    bool verified = false;
    std::string method, storage;  ///< as the library tells them
    std::string details;          ///< the library's own summary of the last file, JSON
};

struct OverlapMeasurement {
    double compute_seconds = 0;  ///< a step
    double io_seconds = 0;       ///< a step's output as the pace tells it, without computing
    Workload workload;
    std::int64_t step_bytes = 0;
    std::size_t variables = 0;
    std::vector<OverlapRow> rows;
    bool peaks_reset = true;
    bool good = true;
};

/// Runs it all; `world` has at least options.all_ranks() ranks. Throws UsageError before anything
/// is measured. @note Collective
OverlapMeasurement measure_overlap(const Meeting& world, const OverlapOptions& options);

}  // namespace thalweg::bench
