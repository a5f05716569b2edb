// SPDX-License-Identifier: Apache-2.0
#include "history/maps/map.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace thalweg::history {

Part target_part(const Map& map, const std::vector<std::string>& dims, const Integers& shape) {
    Part part;
    part.dims = dims;
    part.shape = shape;
    part.first_listed = place_of(map.dims.front(), dims);
    part.listed = static_cast<int>(map.dims.size());
    part.indices.resize(map.rows());
    std::iota(part.indices.begin(), part.indices.end(), map.first);
    return part;
}

void sort_links(const std::vector<MapLink>& links, std::int64_t rows, Map& map) {
    map.begin.assign(rows + 1, 0);
    map.columns.clear();
    map.columns.reserve(links.size());
    for (const MapLink& link : links) {
        ++map.begin[link.row - map.first + 1];
        map.columns.push_back(link.column);
    }
    std::partial_sum(map.begin.begin(), map.begin.end(), map.begin.begin());
    std::ranges::sort(map.columns);
    const auto repeated = std::ranges::unique(map.columns);
    map.columns.erase(repeated.begin(), repeated.end());
    map.columns.shrink_to_fit();
    map.column.resize(links.size());
    map.weight.resize(links.size());
    Integers next = map.begin;
    for (const MapLink& link : links) {
        const std::int64_t to = next[link.row - map.first]++;
        map.column[to] = static_cast<std::int32_t>(
            std::ranges::lower_bound(map.columns, link.column) - map.columns.begin());
        map.weight[to] = link.weight;
    }
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
    Coordinate& grid = map.coordinates.emplace_back();
    grid.name = "healpix";
    grid.type = TW_INT;
    grid.size = sizeof(std::int32_t);
    grid.attributes = {{"grid_mapping_name", std::string("healpix")},
                       {"refinement_level", integer(level)},
                       {"indexing_scheme", std::string("nested")}};
    grid.part = choose(replicated_part({}, {}), {}).part;
    grid.data.resize(grid.size);
    Coordinate& cell = map.coordinates.emplace_back();
    cell.name = "cell";
    cell.type = TW_INT;
    cell.size = sizeof(std::int32_t);
    cell.dims = map.dims;
    cell.attributes = {{"standard_name", std::string("healpix_index")},
                       {"units", std::string("1")}};
    cell.part = target_part(map, map.dims, map.shape);
    cell.serial = map.serial;
    cell.data.resize(map.rows() * cell.size);
    for (std::int64_t row = 0; row < map.rows(); ++row) {
        const auto index = static_cast<std::int32_t>(map.first + row);
        std::memcpy(cell.data.data() + row * cell.size, &index, sizeof index);
    }
    map.attributes = {{"grid_mapping", std::string("healpix")}};
}

}  // namespace thalweg::history
