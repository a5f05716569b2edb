// SPDX-License-Identifier: Apache-2.0
#include "history/maps/map.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace thalweg::history {

Part target_part(const Map& map, const Names& dims, const Integers& shape) {
    Part part;
    part.dims = dims;
    part.shape = shape;
    part.first_listed = place_of(map.dims.front(), dims);
    part.listed = static_cast<int>(map.dims.size());
    part.indices.resize(map.rows());
    std::iota(part.indices.begin(), part.indices.end(), map.first);
    return part;
}

ColumnSet::ColumnSet(Integers some) : list_(std::move(some)) {
    if (list_.empty()) return;
    const auto [low, high] = std::ranges::minmax(list_);
    if ((high - low) / 64 > size()) {
        std::ranges::sort(list_);
        const auto repeated = std::ranges::unique(list_);
        list_.erase(repeated.begin(), repeated.end());
        return;
    }
    const std::int64_t first = low / 64;
    words_.resize(high / 64 - first + 1);
    for (const std::int64_t column : list_)
        words_[column / 64 - first].bits |= std::uint64_t{1} << column % 64;
    list_.clear();
    for (std::size_t w = 0; w < words_.size(); ++w) {
        words_[w].before = size();
        for (std::uint64_t bits = words_[w].bits; bits != 0; bits &= bits - 1)
            list_.push_back((first + w) * 64 + std::countr_zero(bits));
    }
    list_.shrink_to_fit();
}

std::int64_t ColumnSet::number(std::int64_t column) const {
    if (list_.empty() || column < list_.front() || column > list_.back()) return -1;
    if (words_.empty()) {
        const auto found = std::ranges::lower_bound(list_, column);
        return *found == column ? found - list_.begin() : -1;
    }
    const Word& word = words_[column / 64 - list_.front() / 64];
    const std::uint64_t bit = std::uint64_t{1} << column % 64;
    return (word.bits & bit) == 0 ? -1 : word.before + std::popcount(word.bits & (bit - 1));
}

void sort_links(std::span<const MapLink> links, std::int64_t rows, Map& map) {
    Integers columns;
    columns.reserve(links.size());
    for (const MapLink& link : links) columns.push_back(link.column);
    map.columns = ColumnSet(std::move(columns));
    const Lists of_rows(rows, links.size(), [&](auto i) { return links[i].row - map.first; });
    map.begin = of_rows.begin;
    map.column.reserve(links.size());
    map.weight.reserve(links.size());
    for (const std::int64_t i : of_rows.items) {
        map.column.push_back(static_cast<std::int32_t>(map.columns.number(links[i].column)));
        map.weight.push_back(links[i].weight);
    }
}

Status send(Ranks& ranks, Letters& letters, Status mine) {
    std::vector<detail::Packet> packets;
    auto own = letters.extract(ranks.rank());  // is not copied
    if (mine.ok())
        mine = detail::catch_errors([&] {
            for (auto& [rank, bytes] : letters) packets.push_back({rank, std::move(bytes)});
        });
    if (!mine.ok()) packets.clear();
    letters.clear();
    keep_first(mine, ranks.exchange(packets));
    if (mine.ok())
        mine = detail::catch_errors([&] {
            for (detail::Packet& packet : packets) letters[packet.rank] = std::move(packet.bytes);
        });
    letters.insert(std::move(own));
    return mine;
}

Status exchange(Ranks& ranks, Letters& letters, Status mine) {
    return ranks.agree(send(ranks, letters, std::move(mine)), 0, {});
}

int healpix_level(std::int64_t elements) {
    int level = 0;
    for (std::int64_t n = 12; n < elements && level < 29; n *= 4) ++level;
    return elements == std::int64_t{12} << 2 * level ? level : -1;
}

void coarsen(Map& map, int levels) {
    const std::int64_t children = std::int64_t{1} << 2 * levels;
    Integers begin{0};
    for (std::int64_t row = 0; row < map.rows(); row += children) {
        std::int64_t linked = 0;
        for (std::int64_t child = row; child < row + children; ++child)
            linked += map.begin[child + 1] > map.begin[child] ? 1 : 0;
        begin.push_back(map.begin[row + children]);
        for (std::int64_t i = map.begin[row]; i < begin.back(); ++i)
            map.weight[i] /= static_cast<double>(linked);
    }
    map.begin = std::move(begin);
    map.first /= children;
}

void describe_healpix(Map& map, int level) {
    const auto integer = [](std::int64_t i) { return std::vector<std::int64_t>{i}; };
    map.dims = {"cell"};
    map.shape = {std::int64_t{12} << 2 * level};
    map.coordinates.clear();
    add_coordinate(map, "healpix", replicated_part({}, {}), std::vector<std::int32_t>{0},
                   {{"grid_mapping_name", std::string("healpix")},
                    {"refinement_level", integer(level)},
                    {"indexing_scheme", std::string("nested")}});
    std::vector<std::int32_t> cells(map.rows());
    std::iota(cells.begin(), cells.end(), static_cast<std::int32_t>(map.first));
    add_coordinate(map, "cell", target_part(map, map.dims, map.shape), cells,
                   {{"standard_name", std::string("healpix_index")}, {"units", std::string("1")}});
    map.attributes = {{"grid_mapping", std::string("healpix")}};
}

}  // namespace thalweg::history
