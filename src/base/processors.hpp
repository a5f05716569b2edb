// Processors that this process may use.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace thalweg::detail {

/// A set of processors, with one bit for each.
using ProcessorMask = std::array<std::int64_t, 16>;

/// Returns the process's affinity mask. If it cannot be read (a machine may have more processors
/// than the mask has bits), returns as many of the first processors as are online.
ProcessorMask own_processors();

int count(const ProcessorMask& mask);

/// Returns the number of processors that the process's control group (a container) grants at a
/// time, rounded down, at least 1; INT32_MAX: no limit.
/// @param root  root folder of the file system; tests pass their own
int processor_quota(const std::string& root = "");

/// Returns the number of threads with which a rank computes: OMP_NUM_THREADS, else 1.
int model_threads();

/// The processors that the ranks of a run do not use, as all ranks have agreed.
struct FreeProcessors {
    /// Number of processors on which nothing computes, among those that the ranks of a node may
    /// use; of the node with the fewest.
    int number = 0;
    /// Some rank is bound: it may use no more processors than it computes on.
    bool bound = false;
};

}  // namespace thalweg::detail
