// SPDX-License-Identifier: Apache-2.0
#include "show/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "inspected.hpp"

namespace thalweg::app {

namespace {

constexpr std::string_view shades = " .:-=+*#%@";
constexpr double missing = std::numeric_limits<double>::quiet_NaN();
constexpr double huge = 1e30;  ///< larger values are taken for netCDF's fill values

/// The values of a map, top row first; NaN for missing ones.
struct Map {
    int rows = 0, columns = 0;
    std::vector<double> values;
    double least = std::numeric_limits<double>::infinity();
    double most = -std::numeric_limits<double>::infinity();

    double at(int row, int column) const {
        return values[static_cast<std::size_t>(row * columns + column)];
    }
};

std::vector<double> fill_values(const Reader& file, const std::string& name) {
    std::vector<double> values;
    const Names attributes = attributes_of(file, name);
    for (const char* attribute : {"_FillValue", "missing_value"})
        if (has(attributes, attribute))
            for (const double value : file.get_att<double>(name, attribute))
                values.push_back(value);
    return values;
}

/// Returns the first and the last value of a dimension's coordinate variable; empty if there is
/// none.
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
    for (int c = 0; c < map.columns; ++c) {
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

/// Reads a map of a variable. @note Collective
Map read_map(Reader& file, const std::string& name, const Variable& v, int columns, bool upward) {
    const std::size_t y = v.shape.size() - 2, x = y + 1;
    Map map;
    map.columns = static_cast<int>(std::min<std::int64_t>(columns, v.shape[x]));
    // A character is about twice as high as it is wide.
    const std::int64_t rows = v.shape[y] * map.columns / v.shape[x] / 2;
    map.rows = static_cast<int>(std::clamp<std::int64_t>(
        rows, std::min<std::int64_t>(8, v.shape[y]), std::min<std::int64_t>(36, v.shape[y])));
    std::vector<std::int64_t> start(v.shape.size(), 0), count(v.shape.size(), 1);
    if (y > 0 && has(unlimited_of(file, {}), v.dims.front())) start.front() = v.shape.front() - 1;
    count[x] = v.shape[x];
    const std::vector<double> fills = fill_values(file, name);
    std::vector<double> row(static_cast<std::size_t>(v.shape[x]));
    for (int r = 0; r < map.rows; ++r) {
        const std::int64_t at = (2 * r + 1) * v.shape[y] / (2 * map.rows);
        start[y] = upward ? v.shape[y] - 1 - at : at;
        file.get_box(name, start, count, std::span(row));
        add_row(row, fills, map);
    }
    return map;
}

/// Returns a number from 0 (least) to levels - 1 (most).
int level_of(const Map& map, double value, int levels) {
    if (map.most <= map.least) return levels / 2;
    const double part = (value - map.least) / (map.most - map.least);
    return std::min(static_cast<int>(part * levels), levels - 1);
}

std::string draw(const Map& map, bool colour) {
    // Blue, green, yellow and red, from the 216 colours of a terminal.
    constexpr std::array cube{17, 19,  27,  33,  39,  45,  49,  47,
                              82, 154, 226, 220, 208, 202, 196, 124};
    std::string text;
    for (int r = 0; r < map.rows; ++r) {
        for (int c = 0; c < map.columns; ++c) {
            const double value = map.at(r, c);
            if (colour && std::isnan(value))
                text += "\x1b[0m ";
            else if (colour)
                text += fmt::format(
                    "\x1b[48;5;{}m ",
                    cube[static_cast<std::size_t>(level_of(map, value, int(cube.size())))]);
            else
                text += std::isnan(value) ? '?'
                                          : shades[static_cast<std::size_t>(
                                                level_of(map, value, int(shades.size())))];
        }
        text += colour ? "\x1b[0m\n" : "\n";
    }
    return text;
}

std::string edge_text(const std::string& dim, const std::vector<double>& ends, bool last,
                      std::int64_t length) {
    if (ends.empty()) return fmt::format("{}={}", dim, last ? length - 1 : 0);
    return fmt::format("{} {:g}", dim, ends[last ? 1 : 0]);
}

}  // namespace

std::string plot(Reader& file, const std::string& name, int columns, bool colour) {
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
    // North is up; without coordinates, the first row is the lowest.
    const bool upward = ys.empty() || ys[0] < ys[1];
    const Map map = read_map(file, name, v, columns, upward);
    std::string where;
    for (std::size_t d = 0; d < y; ++d) {
        const bool record = d == 0 && has(unlimited_of(file, {}), v.dims[0]);
        where += fmt::format(" {}={}", v.dims[d], record ? v.shape[0] - 1 : 0);
    }
    std::string text = fmt::format("{}{}{}", name, where.empty() ? "" : " at", where);
    if (map.most >= map.least)
        text += fmt::format(": from {:.6g}{} to {:.6g}{}", map.least, colour ? " (blue)" : " (' ')",
                            map.most, colour ? " (red)" : " ('@')");
    text += colour ? "\n" : "; no value: '?'\n";
    text += fmt::format("top: {}\n", edge_text(v.dims[y], ys, upward, v.shape[y]));
    text += draw(map, colour);
    text += fmt::format(
        "bottom: {}; left: {}; right: {}\n", edge_text(v.dims[y], ys, !upward, v.shape[y]),
        edge_text(v.dims[x], xs, false, v.shape[x]), edge_text(v.dims[x], xs, true, v.shape[x]));
    return text;
}

}  // namespace thalweg::app
