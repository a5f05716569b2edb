// SPDX-License-Identifier: Apache-2.0
#include "irregular/map.hpp"

#include <algorithm>
#include <stdexcept>

#include "irregular/generators.hpp"
#include "options.hpp"

namespace thalweg::bench::irregular {
namespace {

using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// Returns a list over all dimensions but one, if this rank holds the full length of that one for
/// each of its elements.
/// @param key returns the index of an element over the other dimensions
template <class Key>
std::optional<std::vector<std::int64_t>> leave_out(const List& flattened, std::int64_t length,
                                                   Key key) {
    Pairs keys;  // keys, each with its first position in memory
    keys.reserve(flattened.indices.size());
    flattened.for_each([&](std::int64_t at, std::int64_t index) {
        keys.push_back({key(index), at});
    });
    if (static_cast<std::int64_t>(keys.size()) % length != 0) return {};
    std::sort(keys.begin(), keys.end());
    Pairs by_place;
    for (std::size_t i = 0; i < keys.size(); i += static_cast<std::size_t>(length)) {
        // Indices are unique, so if a key occurs `length` times, it has the full length of the
        // dimension.
        const std::size_t last = i + static_cast<std::size_t>(length) - 1;
        if (keys[i].first != keys[last].first) return {};
        if (last + 1 < keys.size() && keys[last + 1].first == keys[i].first) return {};
        by_place.push_back({keys[i].second, keys[i].first});
    }
    std::sort(by_place.begin(), by_place.end());
    std::vector<std::int64_t> indices;
    for (const auto& [at, index] : by_place) indices.push_back(index);
    return indices;
}

std::optional<List> factor(const RankGroup& rank_group, const List& flattened) {
    const std::vector<Dim>& dims = flattened.dims;
    if (dims.size() < 2) return {};
    const std::int64_t first = dims.front().length, last = dims.back().length;
    const std::int64_t rest = flattened.listed() / first;
    for (const bool leave_first : {true, false}) {
        const std::int64_t length = leave_first ? first : last;
        if (length == 1) continue;
        auto indices = leave_out(flattened, length, [&](std::int64_t index) {
            return leave_first ? index % rest : index / last;
        });
        if (rank_group.max(std::int64_t{indices ? 0 : 1}) == 1) continue;
        return List{dims, leave_first ? std::size_t{1} : 0, dims.size() - 1, std::move(*indices)};
    }
    return {};
}

}  // namespace

Pairs in_file_order(const List& list) {
    Pairs elements;
    elements.reserve(static_cast<std::size_t>(list.local_elements()));
    list.for_each([&](std::int64_t at, std::int64_t index) { elements.push_back({index, at}); });
    std::sort(elements.begin(), elements.end());
    return elements;
}

void complete(const RankGroup& rank_group, IndexMap& map) {
    map.factored = factor(rank_group, map.flattened);
    std::int64_t pieces = 0, next = -1;
    const Pairs elements = in_file_order(map.flattened);
    for (const auto& [index, at] : elements) {
        pieces += index != next ? 1 : 0;
        next = index + 1;
    }
    map.held = rank_group.sum(static_cast<std::int64_t>(elements.size()));
    map.pieces = rank_group.sum(pieces);
}

IndexMap generate_map(const RankGroup& rank_group, const std::string& kind, std::int64_t elements,
                      std::uint64_t seed) {
    try {
        IndexMap map{kind, generator_text(kind),
                     generate(kind, elements, seed, rank_group.rank(), rank_group.ranks())};
        complete(rank_group, map);
        return map;
    } catch (const std::invalid_argument& error) {
        throw UsageError(error.what());
    }
}

}  // namespace thalweg::bench::irregular
