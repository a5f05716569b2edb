// Packets between ranks of many nodes, combined by node on the way.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "comm/team.hpp"

namespace thalweg::detail {

/// Limits within which packets are combined: the smallest average number of packets of a rank, and
/// the largest size of a packet in bytes, because each is copied three times.
struct CombineLimits {
    std::int64_t packets = 6;
    std::int64_t bytes = 64 << 10;
    /// Upper bound of the number of packets of any rank, the same on all ranks.
    std::int64_t most = INT64_MAX;
};

/**
 * Sends each packet to its rank and returns the packets received, ordered by sender, like
 * Comm::exchange over the world of a team. If all ranks have small packets for many others, they go
 * from the ranks of a node to one that sends to another node, from there in one message to that
 * node, and to the ranks there. So a rank sends about as many messages as a node has ranks, plus
 * the number of nodes divided by the ranks of a node, instead of one to every rank.
 * @param have  set to false on a rank that lacks memory for the packets; other ranks are not
 *              informed
 * @note Collective
 */
std::vector<Packet> exchange_by_nodes(Team& team, const std::vector<Packet>& packets, bool& have,
                                      const CombineLimits& limits = {});

}  // namespace thalweg::detail
