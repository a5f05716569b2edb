// Processors that this process may use.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace thalweg::detail {

/// A set of processors, with one bit for each.
using ProcessorMask = std::array<std::int64_t, 16>;

/// Returns the affinity mask of the process. If it cannot be read, for example because the machine
/// has more processors than the mask has bits, returns the first processors, as many as are online.
ProcessorMask own_processors();

int count(const ProcessorMask& mask);

/// Returns the number of processors that the control group of the process (its container) grants at
/// a time, rounded down, but at least 1. Returns INT32_MAX if there is no limit.
/// @param root  root folder of the file system; tests pass another folder
int processor_quota(const std::string& root = "");

/// Returns the number of threads with which each rank of the model computes: OMP_NUM_THREADS, or 1
/// without it.
int model_threads();

/// The processors that the ranks of a node do not use.
struct FreeProcessors {
    /// Number of processors on which nothing computes, among those that the ranks of the node may
    /// use.
    int number = 0;
    /// The rank is bound: it may use no more processors than it computes on.
    bool bound = false;
};

}  // namespace thalweg::detail
