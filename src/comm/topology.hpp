// The nodes on which the ranks run.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "comm/comm.hpp"

namespace thalweg::detail {

/// The distribution of ranks over nodes. Nodes are numbered in the order of their lowest ranks. The
/// ranks of a node have places in it, in ascending order, and share the memory of the tables.
struct Topology {
    int nodes = 1;
    int node = 0;                   ///< number of this rank's node
    int node_rank = 0;              ///< place of this rank in its node
    std::span<const int> members;   ///< ranks of this node
    std::span<const int> sizes;     ///< number of ranks of each node
    std::span<const int> node_of;   ///< node of each rank
    std::span<const int> by_place;  ///< all ranks, sorted by node and place
    std::span<const int> first;     ///< index in by_place of each node's first rank
    std::shared_ptr<const Memory> tables;

    int rank_of(int at_node, int place) const { return by_place[first[at_node] + place]; }
};

/// Makes the topology for ranks whose nodes are given, as rank 0 sees it.
Topology topology_of(std::span<const int> node_of);

/// Returns the bytes of the tables for these numbers of ranks and nodes, including the words that
/// find_topology() stores before them.
std::size_t table_bytes(std::size_t ranks, std::size_t nodes);

/**
 * Finds the topology. Only the first ranks of the nodes exchange messages.
 * @param node     the ranks that share memory
 * @param leaders  the first ranks of the nodes; null on others, and if there is one node
 * @param mine     this rank's own failure so far
 * @param memory   shared by the node; null after a failure
 * @param tables   part of this memory for the tables, large enough for as many nodes as ranks
 * @return the same on every rank @note Collective over `all`
 */
Status find_topology(Comm& all, Comm& node, Comm* leaders, Status mine,
                     std::shared_ptr<const Memory> memory, char* tables, Topology& topology);

}  // namespace thalweg::detail
