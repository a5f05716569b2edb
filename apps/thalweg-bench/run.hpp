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
    double seconds = 0;         ///< steps and close, on the slowest rank
    double open_seconds = 0;    ///< slowest rank
    double cpu_seconds = 0;     ///< sum over all ranks, without opening the file
    double switches = 0;        ///< voluntary context switches of a rank in a step, mean
    double most_switches = 0;   ///< on the rank that has most
    Phases phases;              ///< each on the rank that is slowest in it
    std::int64_t writes = 0;    ///< sum over all ranks, as are the members below
    std::int64_t messages = 0;  ///< negative: not known
    std::int64_t fsync_calls = 0;
    double fsync_seconds = 0;  ///< slowest rank
};

/// The results of one method.
struct Result {
    const MethodInfo* info = nullptr;
    std::string error;  ///< reason why it could not be measured; empty if it was
    std::vector<Sample> samples;
    /// Before the first file: starting sessions, allocating buffers.
    double setup_seconds = 0;
    /// Bytes on the rank with most; a shared page is divided by the number of its users.
    std::int64_t peak_bytes = 0;
    std::int64_t peak_rss_bytes = 0;  ///< bytes on the rank with most; a shared page counts in full
    std::int64_t peak_node_bytes = 0;  ///< bytes on the node with most, summed over its ranks
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
    bool peaks_reset = true;         ///< false: the peaks are those of the whole run
    std::deque<MethodInfo> methods;  ///< elements that results point to
    std::vector<Result> results;
    bool good = true;
};

/// Measures all methods. Throws UsageError before anything is measured.
/// @note Collective
Measurement measure(const Meeting& meeting, Problem& problem, const Options& options);

}  // namespace thalweg::bench
