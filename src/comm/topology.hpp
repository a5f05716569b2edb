// The nodes on which the ranks run.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "comm/comm.hpp"

namespace thalweg::detail {

/// Nodes, numbered by their lowest ranks; a node's ranks are numbered by their place in it, in
/// ascending order. The ranks of a node share the memory of the tables.
struct Topology {
    int nodes = 1;
    int node = 0;                   ///< this rank's node
    int node_rank = 0;              ///< this rank's place in its node
    std::span<const int> members;   ///< ranks of this node
    std::span<const int> sizes;     ///< ranks of each node
    std::span<const int> node_of;   ///< node of each rank
    std::span<const int> by_place;  ///< all ranks, node after node, in the order of their places
    std::span<const int> first;     ///< first index of each node in by_place
    std::shared_ptr<const Memory> tables;

    int rank_of(int at_node, int place) const { return by_place[first[at_node] + place]; }
};

/// Makes the topology of ranks whose nodes are known, as rank 0 has it.
Topology topology_of(std::span<const int> node_of);

/// Returns the bytes of the tables of so many ranks on so many nodes, with the words that
/// find_topology() puts in front.
std::size_t table_bytes(std::size_t ranks, std::size_t nodes);

/**
 * Finds the topology. If ranks are placed on nodes in some regular order, no rank but the first
 * sends or receives more than a few words.
 * @param node     the ranks that share memory
 * @param leaders  the first ranks of the nodes; null on others, and if there is one node
 * @param mine     this rank's own failure so far
 * @param memory   shared by the node; null after a failure
 * @param tables   place in it for as many nodes as ranks
 * @return the same on every rank @note Collective over `all`
 */
Status find_topology(Comm& all, Comm& node, Comm* leaders, Status mine,
                     std::shared_ptr<const Memory> memory, char* tables, Topology& topology);

/// Encodes the node of each rank in a few words, and decodes them.
std::vector<std::int64_t> words_of_nodes(std::span<const int> node_of);
void read_nodes(std::span<const std::int64_t> words, std::span<int> node_of);

}  // namespace thalweg::detail
