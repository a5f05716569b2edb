// Measures methods, interleaved in repetitions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "measurement.hpp"
#include "method.hpp"
#include "problem.hpp"
#include "registry.hpp"

namespace thalweg::bench {

/// The measurement of one file that a method has written.
struct Sample {
    double seconds = 0;         ///< seconds for the steps and the close, on the slowest rank
    double open_seconds = 0;    ///< seconds for opening, on the slowest rank
    double cpu_seconds = 0;     ///< CPU seconds of all ranks, without opening the file
    double switches = 0;        ///< mean number of voluntary context switches of a rank in a step
    double most_switches = 0;   ///< the same number on the rank with most
    Phases phases;              ///< seconds of each phase, on the rank that is slowest in it
    std::int64_t writes = 0;    ///< sum over all ranks, as in the members below
    std::int64_t messages = 0;  ///< negative: unknown
    std::int64_t fsync_calls = 0;
    double fsync_seconds = 0;  ///< seconds on the slowest rank
};

/// The results of one method.
struct Result {
    const MethodInfo* info = nullptr;
    std::string error;  ///< reason why the method could not be measured; empty if it could
    std::vector<Sample> samples;
    /// Seconds before the first file, for starting sessions and allocating buffers.
    double setup_seconds = 0;
    /// Bytes on the rank with most. A page that is shared counts in part, by the number of its
    /// users.
    std::int64_t peak_bytes = 0;
    std::int64_t peak_rss_bytes = 0;   ///< bytes on the rank with most; a shared page counts fully
    std::int64_t peak_node_bytes = 0;  ///< bytes of all ranks of the node with most
    std::int64_t file_bytes = 0;
    std::string service = "inline";
    std::string storage;
    std::string details;
    bool verified = false;
    std::string wrong;  ///< error found by the verification; empty if there is none
    std::uint64_t hash = 0;
    bool hashed = false;
};

struct Measurement {
    int steps = 0;
    bool peaks_reset = true;         ///< false: the peaks could not be reset, and are those of the
                                     ///< whole run
    std::deque<MethodInfo> methods;  ///< methods to which results point
    std::vector<Result> results;
    bool good = true;
};

/// Measures all methods. Throws UsageError before anything is measured.
/// @note Collective
Measurement measure(const RankGroup& rank_group, Problem& problem, const Options& options);

}  // namespace thalweg::bench
