// Processors that this process may use.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace thalweg::detail {

/// A set of processors, one bit each.
using ProcessorMask = std::array<std::int64_t, 16>;

/// Returns the process's affinity mask; if it cannot be read (a machine with more processors than
/// the mask has bits), as many of the first processors as are online.
ProcessorMask own_processors();

int count(const ProcessorMask& mask);

/// Returns the number of processors that the process's control group (a container) grants at a
/// time, rounded down, at least 1; INT32_MAX: no limit.
/// @param root  root folder of the file system; tests use their own
int processor_quota(const std::string& root = "");

/// Threads with which a rank computes: OMP_NUM_THREADS, else 1.
int model_threads();

/// The processors that the ranks of a run leave, as all of them have found out.
struct FreeProcessors {
    /// Processors on which nothing computes, of those that the ranks of a node may use; of the node
    /// with the fewest.
    int number = 0;
    /// Some rank may use no more processors than it computes on (it is bound to them).
    bool bound = false;
};

}  // namespace thalweg::detail
