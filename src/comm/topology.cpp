// SPDX-License-Identifier: Apache-2.0
#include "comm/topology.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/words.hpp"

namespace thalweg::detail {

namespace {

/// Ranks in a sequence with equal distances.
struct Equidistant {
    std::int64_t first, step, count;
};

/// A pattern of consecutive ranks: `ranks` of them on a node, as many on the next one, and so on
/// for `nodes` nodes; the whole is repeated `times` times.
struct Stairs {
    std::int64_t node, ranks, nodes, times;
};

/// The number of this node and the number of nodes, stored in front of the tables.
struct NodePlace {
    int node, nodes;
};

template <class Record>
void append(std::vector<std::int64_t>& words, const Record& record) {
    const std::size_t at = words.size();
    words.resize(at + sizeof record / sizeof words[0]);
    std::memcpy(words.data() + at, &record, sizeof record);
}

template <class Record, class Visit>
void for_records(std::span<const std::int64_t> words, Visit&& visit) {
    constexpr std::size_t size = sizeof(Record) / sizeof(std::int64_t);
    for (; words.size() >= size; words = words.subspan(size)) {
        Record record;
        std::memcpy(&record, words.data(), sizeof record);
        visit(record);
    }
}

/// Encodes the ranks of a node. @param members  ranks, by their place in the node
std::vector<std::int64_t> words_of_ranks(std::span<const int> members) {
    std::vector<std::int64_t> words;
    for (std::size_t i = 0; i < members.size();) {
        Equidistant row{members[i], 1, 1};
        if (i + 1 < members.size()) row.step = members[i + 1] - row.first;
        while (++i < members.size() && members[i] == row.first + row.count * row.step) ++row.count;
        append(words, row);
    }
    return words;
}

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

std::vector<std::int64_t> words_of_nodes(std::span<const int> node_of) {
    std::vector<std::int64_t> words;
    const std::size_t n = node_of.size();
    for (std::size_t i = 0; i < n;) {
        Stairs s{node_of[i], 0, 0, 0};
        // Returns the number of consecutive ranks on one node.
        const auto height = [&](std::size_t from) {
            std::size_t end = from;
            while (end < n && node_of[end] == node_of[from]) ++end;
            return static_cast<std::int64_t>(end - from);
        };
        s.ranks = height(i);
        std::size_t end = i;
        while (end < n && node_of[end] == s.node + s.nodes && height(end) == s.ranks) {
            ++s.nodes;
            end += s.ranks;
        }
        const std::size_t length = end - i;
        const auto again = [&] {
            const std::size_t at = i + s.times * length;
            return at + length <= n &&
                   std::equal(node_of.begin() + at, node_of.begin() + at + length,
                              node_of.begin() + i);
        };
        while (again()) ++s.times;
        i += s.times * length;
        append(words, s);
    }
    return words;
}

void read_nodes(std::span<const std::int64_t> words, std::span<int> node_of) {
    std::size_t at = 0;
    for_records<Stairs>(words, [&](const Stairs& s) {
        for (std::int64_t t = 0; t < s.times; ++t)
            for (std::int64_t k = 0; k < s.nodes; ++k)
                for (std::int64_t i = 0; i < s.ranks && at < node_of.size(); ++i)
                    node_of[at++] = s.node + k;
    });
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
 * @param words  encode this node's ranks; receive the nodes of all ranks
 * @return this rank's own failure
 * @note Collective over `leaders`
 */
Status join_nodes(Comm& leaders, std::size_t ranks, std::vector<std::int64_t>& words) {
    Status mine;
    const auto keep = [&](Status status) {
        if (mine.ok()) mine = std::move(status);
    };
    std::vector<std::vector<char>> of_nodes;
    keep(together([&]() -> Status {
        of_nodes = leaders.gather(
            {reinterpret_cast<const char*>(words.data()), words.size() * sizeof words[0]}, 0);
        return {};
    }));
    std::vector<char> told;
    const auto join = [&]() -> Status {
        std::vector<int> node_of(ranks, 0);
        for (std::size_t n = 0; n < of_nodes.size(); ++n)
            for_records<Equidistant>(to_words(of_nodes[n]), [&](const Equidistant& row) {
                for (std::int64_t i = 0; i < row.count; ++i) node_of[row.first + i * row.step] = n;
            });
        told = to_bytes(words_of_nodes(node_of));
        return {};
    };
    if (leaders.rank() == 0) keep(alone(join));
    keep(together([&]() -> Status {
        leaders.broadcast(told, 0);
        return alone([&]() -> Status {
            words = to_words(told);
            return {};
        });
    }));
    return mine;
}

}  // namespace

Status find_topology(Comm& all, Comm& node, Comm* leaders, Status mine,
                     std::shared_ptr<const Memory> memory, char* tables, Topology& topology) {
    const std::size_t ranks = all.size();
    // A rank without memory still takes part in the collective calls.
    const auto keep = [&](Status status) {
        if (mine.ok()) mine = std::move(status);
    };
    auto* const place = reinterpret_cast<NodePlace*>(tables);
    int* const at = mine.ok() ? reinterpret_cast<int*>(tables + sizeof(NodePlace)) : nullptr;
    if (leaders != nullptr) {
        // First the ranks of this node, later the ranks of all nodes.
        std::vector<std::int64_t> words;
        keep(alone([&]() -> Status {
            words = words_of_ranks(node.ranks_in(all));
            return {};
        }));
        keep(join_nodes(*leaders, ranks, words));
        if (mine.ok()) {
            *place = {leaders->rank(), leaders->size()};
            read_nodes(words, {at, ranks});
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
