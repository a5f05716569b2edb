// Resources of a node that the model leaves to a writing thread and its queues.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/processors.hpp"
#include "comm/team.hpp"
#include "telemetry/output_times.hpp"

namespace thalweg::detail {

struct Room {
    int processors = 0;  ///< number of free processors; see FreeProcessors
    bool bound = false;
    /// Free memory in bytes on the node that has least, and upper bound for the queues of a node.
    std::int64_t memory = INT64_MAX, queues = 0;
};

/// Finds the processors that the ranks do not use. Their number is constant, so a run does this
/// once.
/// @note Collective
FreeProcessors find_processors(Team& team);

/// A rank's contribution to the choices for a file, as integers that all ranks combine.
class RankResources {
public:
    RankResources() = default;
    /// Sets the contribution of this rank.
    /// @param queue    size of its queue in bytes
    /// @param outputs  measurements of its outputs so far
    RankResources(const Team& team, std::int64_t queue, const OutputTimes& outputs);

    /// most() returns the integers that are combined by the maximum; sums() those that are added
    /// up.
    std::span<std::int64_t> most() { return most_; }
    std::span<std::int64_t> sums() { return sums_; }

    Room room(const FreeProcessors& processors) const;
    /// Returns the times of outputs on the slowest rank, and the computing time on the rank that
    /// computed least.
    OutputTimes outputs() const;

private:
    std::array<std::int64_t, 6> most_{};
    std::array<std::int64_t, 1> sums_{};
};

/// Combines the measurements of all ranks, as RankResources::outputs() does.
/// @note Collective
OutputTimes agree_on(Team& team, const OutputTimes& mine);

}  // namespace thalweg::detail
