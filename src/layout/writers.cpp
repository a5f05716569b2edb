// SPDX-License-Identifier: Apache-2.0
#include "layout/writers.hpp"

#include <algorithm>
#include <charconv>

namespace thalweg::detail {

WriterCount parse_writers(const std::string& text) {
    WriterCount count;
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, count.number);
    const std::string unit(rest, end);
    if (error != std::errc() || count.number < 1 || !(unit.empty() || unit == "/node")) return {};
    count.per_node = !unit.empty();
    return count;
}

namespace {

/// Picks one rank per node as far as they suffice, the others in proportion to the nodes' ranks.
std::vector<int> spread(const Topology& topology, std::int64_t n) {
    std::vector<int> ranks;
    if (n <= topology.nodes) {
        for (std::int64_t i = 0; i < n; ++i)
            ranks.push_back(topology.rank_of(i * topology.nodes / n, 0));
        return ranks;
    }
    const std::int64_t rest = n - topology.nodes;
    const auto more = std::ssize(topology.by_place) - topology.nodes;
    std::int64_t before = 0;  // ranks of earlier nodes, less one per node
    for (int node = 0; node < topology.nodes; ++node) {
        const std::int64_t size = topology.sizes[node];
        const std::int64_t behind = before + size - 1;
        const std::int64_t own = 1 + behind * rest / more - before * rest / more;
        for (std::int64_t i = 0; i < own; ++i)
            ranks.push_back(topology.rank_of(node, i * size / own));
        before = behind;
    }
    return ranks;
}

}  // namespace

Status pick_writers(const Topology& topology, const WriterChoice& choice, std::vector<int>& ranks) {
    ranks.clear();
    const auto pick = [&](std::int64_t size, const std::string& where, auto&& rank_at) -> Status {
        std::int64_t n = std::min<std::int64_t>(choice.count.number, size - choice.first);
        if (choice.stride > 0) {
            const std::int64_t most = (size - choice.first + choice.stride - 1) / choice.stride;
            if (choice.count.number > most && !choice.as_possible) n = 0;
            n = std::min(n, most);
        }
        if (n < 1)
            return failure(TW_ESETTING,
                           "writers={}, writer_first={}, writer_stride={} are not possible with "
                           "the {} ranks{}",
                           choice.count.number, choice.first,
                           choice.stride > 0 ? std::to_string(choice.stride) : "auto", size, where);
        for (std::int64_t i = 0; i < n; ++i)
            ranks.push_back(
                rank_at(choice.first +
                        (choice.stride > 0 ? i * choice.stride : i * (size - choice.first) / n)));
        return {};
    };
    const std::int64_t all = topology.by_place.size();
    if (!choice.count.per_node && choice.first == 0 && choice.stride == 0) {
        ranks = spread(topology, std::min<std::int64_t>(choice.count.number, all));
        return {};
    }
    if (!choice.count.per_node)
        return pick(all, "", [&](std::int64_t at) {
            return choice.stride > 0 ? static_cast<int>(at) : topology.by_place[at];
        });
    for (int node = 0; node < topology.nodes; ++node) {
        Status status = pick(topology.sizes[node], fmt::format(" of node {}", node),
                             [&](std::int64_t at) { return topology.rank_of(node, at); });
        if (!status.ok()) return status;
    }
    return {};
}

Tiles parse_tiles(const std::string& text) {
    Tiles tiles;
    const char* end = text.data() + text.size();
    const auto x = std::from_chars(text.data(), end, tiles.x);
    if (x.ec != std::errc() || x.ptr == end || *x.ptr != 'x') return {};
    const auto y = std::from_chars(x.ptr + 1, end, tiles.y);
    if (y.ec != std::errc() || y.ptr != end || tiles.x < 1 || tiles.y < 1) return {};
    return tiles;
}

}  // namespace thalweg::detail
