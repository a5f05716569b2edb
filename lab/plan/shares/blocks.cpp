// SPDX-License-Identifier: Apache-2.0
#include "plan/shares/blocks.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "index/runs.hpp"
#include "plan/shares/samples.hpp"

namespace thalweg::planning {

using namespace detail;

namespace {

/// Number of blocks that are sampled in a file, and number that are sampled in a piece.
constexpr std::int64_t sampled_blocks = 48, sampled_of_piece = 4;

/// Largest number of blocks counted in a piece.
constexpr std::size_t most_blocks = 1 << 16;

}  // namespace

void Blocks::add(std::size_t i, const Box& box, std::set<std::int64_t>& to) const {
    const VariableSlot& p = record_.space.places[i];
    if (box.volume() == 0) return;
    const Runs runs = runs_of(box, p.shape);
    for_runs(box, p.shape, runs, each_element, [&](std::int64_t first) {
        const std::int64_t begin = p.offset + first * p.element;
        const std::int64_t end = begin + runs.length * p.element;
        for (std::int64_t b = begin / block_; b <= (end - 1) / block_; ++b) to.insert(b);
        return to.size() <= most_blocks;
    });
}

/// The nodes and writers that write to one block.
struct Blocks::Users {
    std::size_t nodes = 0, writers = 0;
    /// Estimates how often the block passes from one node to another. A node that gets the block
    /// keeps it until all of its waiting writers are done. The first writer of the first node does
    /// not wait, so this node's other writers come later and lock the block again.
    double handovers() const {
        return nodes < 2 ? 0 : nodes - 1.0 * nodes / std::max(nodes, writers);
    }
};

Blocks::Users Blocks::users_of(std::int64_t block, const MappedLayout* mapped) const {
    const auto& places = record_.space.places;
    const Extent range{block * block_, std::min((block + 1) * block_, record_.space.bytes)};
    std::set<int> nodes, writers;
    std::vector<std::pair<std::size_t, Box>> boxes;
    for (std::size_t p = record_.space.place_at(range.begin);
         p < places.size() && places[p].offset < range.end; ++p) {
        const std::int64_t size = places[p].element;
        const std::int64_t begin = std::max<std::int64_t>(0, range.begin - places[p].offset) / size;
        const std::int64_t end = std::min(places[p].bytes, range.end - places[p].offset) / size;
        for_boxes_of_range(places[p].shape, begin, end, [&](const Box& box) {
            if (mapped != nullptr)
                return mapped->layout->add_writers(record_.space, p, box, writers);
            holders_.add_nodes(record_.kinds[p], box, nodes);
            boxes.emplace_back(p, box);
        });
    }
    for (const int w : writers) nodes.insert(mapped->node_of(w));
    if (mapped != nullptr || nodes.size() < 2) return {nodes.size(), writers.size()};
    const Topology& topology = holders_.topology();
    const int node = *nodes.begin();
    std::size_t ranks = 0;  // number of ranks of a node
    for (int r = 0; r < topology.sizes[node]; ++r)
        ranks += std::ranges::any_of(boxes, [&](const auto& held) {
            return holders_.held_by_rank(record_.kinds[held.first], held.second,
                                         topology.first[node] + r) > 0;
        });
    return {nodes.size(), nodes.size() * ranks};
}

double Blocks::number() const { return std::ceil(1.0 * record_.space.bytes / block_); }

SharedBlocks Blocks::shared(const MappedLayout* mapped) const {
    const auto all = static_cast<std::int64_t>(number());
    SharedBlocks found;
    if (run_.nodes == 1) return found;
    const std::int64_t n = std::min(sampled_blocks, all);
    double shared = 0, handovers = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        const Users users = users_of(irregular_sample(i, n, all), mapped);
        shared += users.nodes > 1 ? 1 : 0;
        handovers += users.handovers();
    }
    if (shared == 0) return found;
    found.blocks = all * shared / n;
    found.handovers = handovers / shared;
    return found;
}

double Blocks::shared(const std::set<std::int64_t>& blocks, const MappedLayout& mapped) const {
    if (blocks.empty() || run_.nodes == 1) return 0;
    const std::int64_t all = blocks.size();
    const std::int64_t n = std::min(sampled_of_piece, all);
    double found = 0;
    auto block = blocks.begin();
    for (std::int64_t i = 0, at = 0; i < n; ++i) {
        for (const std::int64_t next = sample(i, n, all); at < next; ++at) ++block;
        found += users_of(*block, &mapped).nodes > 1 ? 1 : 0;
    }
    return all * found / n;
}

}  // namespace thalweg::planning
