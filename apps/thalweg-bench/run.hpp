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

/// The measurement of one file of one method.
struct Sample {
    double seconds = 0;         ///< steps and close, slowest rank
    double open_seconds = 0;    ///< slowest rank
    double cpu_seconds = 0;     ///< of all ranks, without open
    Phases phases;              ///< each of its slowest rank
    std::int64_t writes = 0;    ///< of all ranks, as the rest
    std::int64_t messages = 0;  ///< negative: not known
    std::int64_t fsync_calls = 0;
    double fsync_seconds = 0;  ///< slowest rank
};

/// The results of one method.
struct Result {
    const MethodInfo* info = nullptr;
    std::string error;  ///< reason why it could not be measured
    std::vector<Sample> samples;
    double setup_seconds = 0;          ///< before the first file: sessions, buffers
    std::int64_t peak_bytes = 0;       ///< largest over the ranks; shared pages divided by users
    std::int64_t peak_rss_bytes = 0;   ///< largest over the ranks; shared pages counted whole
    std::int64_t peak_node_bytes = 0;  ///< sum over the ranks of the fullest node
    std::int64_t file_bytes = 0;
    std::string service = "inline";
    std::string storage;
    std::string details;
    bool verified = false;
    std::string wrong;  ///< result of the verification
    std::uint64_t hash = 0;
    bool hashed = false;
};

struct Measurement {
    int steps = 0;
    bool peaks_reset = true;         ///< false: the peaks are those of the whole run
    std::deque<MethodInfo> methods;  ///< results point to these elements
    std::vector<Result> results;
    bool good = true;
};

/// Measures all methods. Throws UsageError before anything is measured.
/// @note Collective
Measurement measure(const Meeting& meeting, Problem& problem, const Options& options);

}  // namespace thalweg::bench
