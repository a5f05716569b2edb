// SPDX-License-Identifier: Apache-2.0
#include "show/map.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "inspect/inspected.hpp"
#include "progress.hpp"

namespace thalweg::app {

namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t least_rows = 8, most_rows = 36;
constexpr std::int64_t aspect = 2;  ///< height of a character divided by its width
constexpr double huge = 1e30;       ///< larger values count as netCDF's fill values

std::vector<double> fill_values(const Reader& file, const std::string& name) {
    std::vector<double> values;
    const Names attributes = attributes_of(file, name);
    for (const char* attribute : {"_FillValue", "missing_value"})
        if (has(attributes, attribute))
            for (const double value : file.get_att<double>(name, attribute))
                values.push_back(value);
    return values;
}

/// Returns the first and the last value of a dimension's coordinate variable; empty if it has none.
/// @note Collective
std::vector<double> ends_of(Reader& file, const std::string& dim, std::int64_t length) {
    if (!has(variables_of(file), dim)) return {};
    const Variable v = file.var(dim);
    if (v.dims != std::vector{dim} || v.type == Type::text || v.type == Type::none) return {};
    std::vector<double> ends(2);
    for (const int k : {0, 1})
        file.get_box(dim, {k == 0 ? 0 : length - 1}, {1},
                     std::span(&ends[static_cast<std::size_t>(k)], 1));
    return ends;
}

/// Averages neighbouring values of a row of the file, and adds them to a row of the map.
void add_row(const std::vector<double>& row, const std::vector<double>& fills, Map& map) {
    const auto n = static_cast<std::int64_t>(row.size());
    for (std::int64_t c = 0; c < map.columns; ++c) {
        const std::int64_t begin = n * c / map.columns;
        const std::int64_t end = std::max(n * (c + 1) / map.columns, begin + 1);
        double sum = 0;
        int counted = 0;
        for (std::int64_t i = begin; i < end; ++i) {
            const double value = row[static_cast<std::size_t>(i)];
            if (!(std::abs(value) < huge) ||
                std::find(fills.begin(), fills.end(), value) != fills.end())
                continue;
            sum += value;
            ++counted;
        }
        const double mean = counted > 0 ? sum / counted : missing;
        map.values.push_back(mean);
        if (counted == 0) continue;
        map.least = std::min(map.least, mean);
        map.most = std::max(map.most, mean);
    }
}

/// Reads the rows of the map.
/// @param upward the last row in the file is at the top of the map
/// @note Collective
void read_rows(Reader& file, const std::string& name, const Variable& v, bool upward,
               const Ranks& ranks, Map& map) {
    const std::size_t y = v.shape.size() - 2, x = y + 1;
    std::vector<std::int64_t> start(v.shape.size(), 0), count(v.shape.size(), 1);
    if (y > 0 && has(unlimited_of(file, {}), v.dims.front())) start.front() = v.shape.front() - 1;
    count[x] = v.shape[x];
    const std::vector<double> fills = fill_values(file, name);
    std::vector<double> row(static_cast<std::size_t>(v.shape[x]));
    Progress progress(map.rows, ranks.rank);
    for (std::int64_t r = 0; r < map.rows; ++r) {
        const std::int64_t at = (2 * r + 1) * v.shape[y] / (2 * map.rows);
        start[y] = upward ? v.shape[y] - 1 - at : at;
        file.get_box(name, start, count, std::span(row));
        add_row(row, fills, map);
        progress.add(1, name);
    }
}

std::string edge_text(const std::string& dim, const std::vector<double>& ends, bool last,
                      std::int64_t length) {
    if (ends.empty()) return fmt::format("{}={}", dim, last ? length - 1 : 0);
    return fmt::format("{} {:g}", dim, ends[last ? 1 : 0]);
}

}  // namespace

int Map::level_of(double value, int levels) const {
    if (most <= least) return levels / 2;
    const double part = (value - least) / (most - least);
    return std::min(static_cast<int>(part * levels), levels - 1);
}

Map read_map(Reader& file, const std::string& name, std::int64_t columns, const Ranks& ranks) {
    const Variable v = file.var(name);
    if (v.type == Type::text || v.type == Type::none)
        throw Error(TW_ETYPE, fmt::format("variable '{}' has no numbers", name));
    if (v.shape.size() < 2)
        throw Error(TW_ESHAPE, fmt::format("variable '{}' has {} dimensions; a map needs two", name,
                                           v.shape.size()));
    if (std::find(v.shape.begin(), v.shape.end(), 0) != v.shape.end())
        throw Error(TW_ESHAPE, fmt::format("variable '{}' has no values yet", name));
    const std::size_t y = v.shape.size() - 2, x = y + 1;
    const std::vector<double> ys = ends_of(file, v.dims[y], v.shape[y]);
    const std::vector<double> xs = ends_of(file, v.dims[x], v.shape[x]);
    // Put north at the top. Without coordinates, the first row is at the bottom.
    const bool upward = ys.empty() || ys[0] < ys[1];
    Map map;
    map.columns = std::min(columns, v.shape[x]);
    map.rows = std::clamp(v.shape[y] * map.columns / v.shape[x] / aspect,
                          std::min(least_rows, v.shape[y]), std::min(most_rows, v.shape[y]));
    map.title = name;
    for (std::size_t d = 0; d < y; ++d) {
        const bool record = d == 0 && has(unlimited_of(file, {}), v.dims[0]);
        map.title +=
            fmt::format("{} {}={}", d == 0 ? " at" : "", v.dims[d], record ? v.shape[0] - 1 : 0);
    }
    map.top = edge_text(v.dims[y], ys, upward, v.shape[y]);
    map.bottom = edge_text(v.dims[y], ys, !upward, v.shape[y]);
    map.left = edge_text(v.dims[x], xs, false, v.shape[x]);
    map.right = edge_text(v.dims[x], xs, true, v.shape[x]);
    read_rows(file, name, v, upward, ranks, map);
    return map;
}

}  // namespace thalweg::app
