// SPDX-License-Identifier: Apache-2.0
#include "layout/writers.hpp"

#include <algorithm>
#include <charconv>

namespace thalweg::detail {

WriterCount parse_writers(const std::string& text) {
    WriterCount count;
    const char* at = text.data();
    const char* const end = at + text.size();
    const auto number = [&](int least, int& value) {
        const auto [rest, error] = std::from_chars(at, end, value);
        at = rest;
        return error == std::errc() && value >= least;
    };
    if (!number(1, count.number)) return {};
    constexpr std::string_view unit = "/node";
    count.per_node = std::string_view(at, end).starts_with(unit);
    if (count.per_node) at += unit.size();
    if (at != end && (*at++ != ':' || !number(0, count.first))) return {};
    if (at != end && (*at++ != ':' || !number(1, count.stride))) return {};
    return at == end ? count : WriterCount{};
}

namespace {

/// Picks one rank on each node, as far as n suffices. Picks further ranks on each node in
/// proportion to the node's ranks.
std::vector<int> spread(const Topology& topology, std::int64_t n) {
    std::vector<int> ranks;
    if (n <= topology.nodes) {
        for (std::int64_t i = 0; i < n; ++i)
            ranks.push_back(topology.rank_of(i * topology.nodes / n, 0));
        return ranks;
    }
    const std::int64_t rest = n - topology.nodes;
    const auto more = std::ssize(topology.by_place) - topology.nodes;
    // Number of ranks on earlier nodes, without the one that was already picked on each.
    std::int64_t before = 0;
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

Status pick_writers(const Topology& topology, const WriterCount& asked, bool as_possible,
                    std::vector<int>& ranks) {
    ranks.clear();
    const auto pick = [&](std::int64_t size, const std::string& where, auto&& rank_at) -> Status {
        std::int64_t n = std::min<std::int64_t>(asked.number, size - asked.first);
        if (asked.stride > 0) {
            const std::int64_t most = (size - asked.first + asked.stride - 1) / asked.stride;
            if (asked.number > most && !as_possible) n = 0;
            n = std::min(n, most);
        }
        if (n < 1)
            return failure(
                TW_ESETTING, "{} writers from rank {} on{} are not possible with the {} ranks{}",
                asked.number, asked.first,
                asked.stride > 0 ? fmt::format(" at a distance of {}", asked.stride) : "", size,
                where);
        for (std::int64_t i = 0; i < n; ++i)
            ranks.push_back(
                rank_at(asked.first +
                        (asked.stride > 0 ? i * asked.stride : i * (size - asked.first) / n)));
        return {};
    };
    const std::int64_t all = topology.by_place.size();
    if (!asked.per_node && asked.first == 0 && asked.stride == 0) {
        ranks = spread(topology, std::min<std::int64_t>(asked.number, all));
        return {};
    }
    if (!asked.per_node)
        return pick(all, "", [&](std::int64_t at) {
            return asked.stride > 0 ? static_cast<int>(at) : topology.by_place[at];
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
