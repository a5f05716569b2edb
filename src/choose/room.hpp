// Resources of a node that the model leaves to a writing thread and its queues.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/system/processors.hpp"
#include "comm/team.hpp"

namespace thalweg::detail {

struct NodeResources {
    int processors = 0;  ///< number of free processors; see FreeProcessors
    bool bound = false;
    /// Free memory in bytes on the node that has least, and upper bound for the queues of a node.
    std::int64_t memory = INT64_MAX, queues = 0;
};

/// Finds the processors that the ranks of this node do not use, and tests if this rank is bound.
/// They do not change, so a session does this once.
/// @note Collective over the node
FreeProcessors find_processors(Team& team);

/// A rank's contribution to the choices for a file, as integers that all ranks combine.
class RankResources {
public:
    RankResources() = default;
    /// Sets the words of this rank.
    /// @param queue       bytes of its queue
    /// @param processors  those of its node
    RankResources(const Team& team, std::int64_t queue, const FreeProcessors& processors);

    /// most() returns the integers that are combined by the maximum; sums() those that are added
    /// up.
    std::span<std::int64_t> most() { return most_; }
    std::span<std::int64_t> sums() { return sums_; }

    NodeResources room() const;

private:
    std::array<std::int64_t, 4> most_{};
    std::array<std::int64_t, 1> sums_{};
};

}  // namespace thalweg::detail
