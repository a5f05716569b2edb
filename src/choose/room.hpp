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
    int processors = 0;  ///< see FreeProcessors
    bool bound = false;
    /// Bytes that are free on the node with the fewest, and the most that the queues of a node
    /// take.
    std::int64_t memory = INT64_MAX, queues = 0;
};

/// Finds the processors that the ranks leave. They stay the same, so a run asks once.
/// @note Collective
FreeProcessors find_processors(Team& team);

/// Words of a rank that all ranks combine before they choose for a file.
class RankResources {
public:
    RankResources() = default;
    /// Takes the words of this rank.
    /// @param queue    bytes of its queue
    /// @param outputs  its outputs so far
    RankResources(const Team& team, std::int64_t queue, const OutputTimes& outputs);

    /// Returns the words that are combined by their maximum; sums() those by their sum.
    std::span<std::int64_t> most() { return most_; }
    std::span<std::int64_t> sums() { return sums_; }

    Room room(const FreeProcessors& processors) const;
    /// Returns the slowest rank's times of outputs, and the fastest rank's time of computing.
    OutputTimes outputs() const;

private:
    std::array<std::int64_t, 6> most_{};
    std::array<std::int64_t, 1> sums_{};
};

/// Returns the outputs of all ranks, as RankResources::outputs(). @note Collective
OutputTimes agree_on(Team& team, const OutputTimes& mine);

}  // namespace thalweg::detail
