// Measures overlap: a model's loop of computing and output, for every way of output.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "overlap_options.hpp"

namespace thalweg::bench {

/// One run of a row. Seconds and bytes are those of the rank with most; processor time is the sum
/// over the ranks. All members are doubles, so that they can be reduced together.
struct OverlapSample {
    double total = 0;      ///< seconds of all steps and the close
    double open = 0;       ///< seconds before the first step
    double computing = 0;  ///< part of `total`
    double library = 0;    ///< part of `total`: passing data and ending steps; for "pack", only
                           ///< copies
    double close = 0;      ///< part of `total`
    double cpu = 0;        ///< sum over all ranks, including servers, during `total`
    double peak = 0;       ///< largest increase of a model rank's resident memory
    double peak_rss = 0;   ///< largest peak of a model rank's resident memory
    double server_peak_rss = 0;
    double queue_waits = -1;  ///< number of waits for the queue; negative: unknown
    double queue_wait_seconds = -1;
};

struct OverlapRow {
    const Way* way = nullptr;
    Computing computing = Computing::sleep;
    std::vector<OverlapSample> samples;
    std::string note;  ///< reason why there are no samples; empty if there are samples
    std::string wrong;
    bool verified = false;
    std::string method, storage;  ///< method and storage that the library has reported
    std::string details;          ///< the library's summary of the last file, as JSON
};

struct OverlapMeasurement {
    double compute_seconds = 0;  ///< seconds of computing in a step
    /// Seconds of a step's output without computing. They determine the computing between outputs.
    double io_seconds = 0;
    Workload workload;
    std::int64_t step_bytes = 0;
    std::size_t variables = 0;
    std::vector<OverlapRow> rows;
    bool peaks_reset = true;
    bool good = true;
};

/// Measures all rows; `world` has at least options.all_ranks() ranks. Throws UsageError before
/// anything is measured.
/// @note Collective
OverlapMeasurement measure_overlap(const RankGroup& world, const OverlapOptions& options);

}  // namespace thalweg::bench
