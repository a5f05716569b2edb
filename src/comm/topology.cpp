// SPDX-License-Identifier: Apache-2.0
#include "comm/topology.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace thalweg::detail {

namespace {

/// The number of this node and the number of nodes, stored in front of the tables.
struct NodePlace {
    int node, nodes;
};

/// Fills the tables in the order in which they lie in memory: node_of, by_place, sizes, first.
/// @param at  address of node_of, which is filled already
void fill_tables(int* at, std::size_t ranks, std::size_t nodes) {
    const std::span node_of(at, ranks), by_place(at + ranks, ranks);
    const std::span sizes(at + 2 * ranks, nodes), first(at + 2 * ranks + nodes, nodes);
    std::fill(sizes.begin(), sizes.end(), 0);
    for (const int node : node_of) ++sizes[node];
    std::exclusive_scan(sizes.begin(), sizes.end(), first.begin(), 0);
    // Filling by_place in the order of ranks advances `first`, which is then restored.
    for (std::size_t r = 0; r < ranks; ++r) by_place[first[node_of[r]]++] = r;
    for (std::size_t n = 0; n < nodes; ++n) first[n] -= sizes[n];
}

void look_at_tables(Topology& t, std::shared_ptr<const Memory> memory, const int* at,
                    std::size_t ranks, std::size_t nodes) {
    t.tables = std::move(memory);
    t.nodes = nodes;
    t.node_of = {at, ranks};
    t.by_place = {at + ranks, ranks};
    t.sizes = {at + 2 * ranks, nodes};
    t.first = {at + 2 * ranks + nodes, nodes};
    t.members = t.by_place.subspan(t.first[t.node], t.sizes[t.node]);
}

}  // namespace

std::size_t table_bytes(std::size_t ranks, std::size_t nodes) {
    return sizeof(NodePlace) + sizeof(int) * 2 * (ranks + nodes);
}

Topology topology_of(std::span<const int> node_of) {
    const std::size_t ranks = node_of.size();
    const std::size_t nodes = 1 + *std::max_element(node_of.begin(), node_of.end());
    std::shared_ptr<Memory> memory = make_private_memory(table_bytes(ranks, nodes));
    if (!memory) throw std::bad_alloc();
    auto* const at = reinterpret_cast<int*>(memory->data());
    std::copy(node_of.begin(), node_of.end(), at);
    fill_tables(at, ranks, nodes);
    Topology t;
    t.node = node_of[0];
    look_at_tables(t, std::move(memory), at, ranks, nodes);
    return t;
}

namespace {

/**
 * Exchanges the ranks of all nodes among the first ranks of the nodes.
 * @param members  ranks of this node
 * @return the node of each rank, as bytes
 * @note Collective over `leaders`
 */
std::vector<char> join_nodes(Comm& leaders, std::size_t ranks, const std::vector<int>& members) {
    const std::span bytes = std::as_bytes(std::span(members));
    const auto of_nodes =
        leaders.gather({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, 0);
    std::vector<char> node_of(ranks * sizeof(int));
    for (int n = 0; n < std::ssize(of_nodes); ++n)  // empty on other ranks than the first
        for (std::size_t at = 0; at < of_nodes[n].size(); at += sizeof(int)) {
            int rank = 0;
            std::memcpy(&rank, of_nodes[n].data() + at, sizeof rank);
            std::memcpy(node_of.data() + rank * sizeof n, &n, sizeof n);
        }
    leaders.broadcast(node_of.data(), node_of.size(), 0);
    return node_of;
}

}  // namespace

Status find_topology(Comm& all, Comm& node, Comm* leaders, Status mine,
                     std::shared_ptr<const Memory> memory, char* tables, Topology& topology) {
    const std::size_t ranks = all.size();
    auto* const place = reinterpret_cast<NodePlace*>(tables);
    int* const at = mine.ok() ? reinterpret_cast<int*>(tables + sizeof(NodePlace)) : nullptr;
    if (leaders != nullptr) {
        const std::vector<char> node_of = join_nodes(*leaders, ranks, node.ranks_in(all));
        if (mine.ok()) {
            *place = {leaders->rank(), leaders->size()};
            std::memcpy(at, node_of.data(), node_of.size());
        }
    } else if (node.rank() == 0 && mine.ok()) {
        *place = {0, 1};
        std::fill_n(at, ranks, 0);
    }
    if (node.rank() == 0 && mine.ok()) fill_tables(at, ranks, place->nodes);
    // After this agreement, the tables of all nodes are filled.
    if (Status status = agree(all, mine); !status.ok()) return status;
    topology.node = place->node;
    topology.node_rank = node.rank();
    look_at_tables(topology, std::move(memory), at, ranks, place->nodes);
    return {};
}

}  // namespace thalweg::detail
