// SPDX-License-Identifier: Apache-2.0
#include "history/configuration/parse.hpp"

namespace thalweg::history {

namespace {

/// Reads ranges of dimensions: {lon=[0,9], lat=[4,6]}.
void parse_index(Keys& keys, std::vector<IndexRange>& ranges) {
    const toml::table* const table = keys.table("index");
    if (table == nullptr) return;
    for (const auto& [name, node] : *table) {
        const toml::array* const pair = node.as_array();
        const bool two = pair != nullptr && pair->size() == 2;
        const auto first = two ? pair->get(0)->value_exact<std::int64_t>() : std::nullopt;
        const auto last = two ? pair->get(1)->value_exact<std::int64_t>() : std::nullopt;
        if (first && last && *first >= 0 && *first <= *last)
            ranges.push_back({std::string(name.str()), *first, *last});
        else
            keys.fail(node,
                      "index: '{}': expected the first and the last index, from 0, such as [0, 9]",
                      name.str());
    }
    if (table->empty()) keys.fail("index", "'index' names no dimension");
}

bool is_latitude(double latitude) { return latitude >= -90 && latitude <= 90; }
bool is_longitude(double longitude) { return longitude >= -360 && longitude <= 720; }

void parse_box(Keys& keys, std::optional<std::array<double, 4>>& box) {
    std::vector<double> edges;
    keys.numbers("box", edges, 4);
    if (edges.size() != 4) return;
    box = {edges[0], edges[1], edges[2], edges[3]};
    if (!is_longitude(edges[0]) || !is_longitude(edges[1]) || !is_latitude(edges[2]) ||
        !is_latitude(edges[3]) || edges[2] > edges[3])
        keys.fail("box", "'box': expected [west, east, south, north] in degrees");
}

void parse_points(Keys& keys, std::vector<std::array<double, 2>>& points) {
    const toml::array* const list = keys.array("points", "a list of [longitude, latitude]");
    if (list == nullptr) return;
    for (const toml::node& node : *list) {
        const toml::array* const pair = node.as_array();
        const bool two = pair != nullptr && pair->size() == 2 && pair->get(0)->is_number() &&
                         pair->get(1)->is_number();
        const double longitude = two ? pair->get(0)->value_or(1e9) : 1e9;
        const double latitude = two ? pair->get(1)->value_or(1e9) : 1e9;
        if (is_longitude(longitude) && is_latitude(latitude))
            points.push_back({longitude, latitude});
        else
            keys.fail(node, "points: expected [longitude, latitude] in degrees");
    }
    if (list->empty()) keys.fail("points", "'points' is empty");
}

}  // namespace

void parse_region(const toml::table& table, const std::string& name, const RunTimes& run,
                  Problems& problems, Table& parsed) {
    Keys keys(table, fmt::format("region '{}'", name), run, problems, "[region.NAME]");
    RegionTable region;
    region.line = line_of(table);
    region.name = name;
    parse_index(keys, region.index);
    parse_box(keys, region.box);
    parse_points(keys, region.points);
    keys.text("points_file", region.points_file);
    keys.texts("names", region.names);
    keys.text("list_file", region.list_file);
    keys.text("list_var", region.list_var);
    keys.integer("base", region.base, 0, 1);
    int given = 0;
    for (const std::string_view key : {"index", "box", "points", "points_file", "list_file"})
        given += keys.has(key);
    if (given != 1)
        keys.fail("", "expected one of 'index', 'box', 'points', 'points_file' and 'list_file'");
    if (keys.has("names") && keys.has("points") && region.names.size() != region.points.size())
        keys.fail("names", "'names' has {} names for {} points", region.names.size(),
                  region.points.size());
    keys.refuse(!keys.has("points"), {"names"}, "needs 'points'");
    if (keys.has("list_file") != keys.has("list_var"))
        keys.fail(keys.has("list_file") ? "list_file" : "list_var",
                  "'list_file' and 'list_var' must be given together");
    keys.refuse(!keys.has("list_file"), {"base"}, "needs 'list_file'");
    keys.finish();
    parsed.regions.emplace(name, std::move(region));
}

void parse_map(const toml::table& table, const std::string& name, const RunTimes& run,
               Problems& problems, Table& parsed) {
    Keys keys(table, fmt::format("map '{}'", name), run, problems, "[map.NAME]");
    MapTable map;
    map.line = line_of(table);
    map.name = name;
    keys.text("file", map.file);
    keys.word("missing", map.missing);
    keys.number("min_fraction", map.min_fraction, 0, 1);
    keys.refuse(map.missing != MapTable::Missing::renormalize, {"min_fraction"},
                "needs missing = \"renormalize\"");
    if (const toml::table* const names = keys.table("names")) {
        Keys own(*names, keys.where() + ": names", run, problems);
        own.text("lat", map.latitude);
        own.text("lon", map.longitude);
        own.finish();
        if (map.latitude == map.longitude) own.fail("lat", "'lat' and 'lon' need different names");
    }
    keys.finish();
    parsed.maps.emplace(name, std::move(map));
}

}  // namespace thalweg::history
