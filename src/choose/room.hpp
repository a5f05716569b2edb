// Resources of a node that the model leaves to a writing thread and its queues.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "comm/team.hpp"

namespace thalweg::detail {

struct Room {
    /// Processors on which nothing computes, of those that the ranks of a node may use; of the node
    /// with the fewest.
    int processors = 0;
    /// Whether some rank may use no more processors than it computes on (it is bound to them).
    bool bound = false;
    /// Bytes that are free on a node, and those of its ranks' queues, where they fit worst.
    std::int64_t memory = INT64_MAX, queues = 0;
};

/// @param queue  bytes of this rank's queue. @note Collective
Room find_room(Team& team, std::int64_t queue);

}  // namespace thalweg::detail
