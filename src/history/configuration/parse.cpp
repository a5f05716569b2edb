// SPDX-License-Identifier: Apache-2.0
#include "history/configuration/keys.hpp"

#include <algorithm>

#include "base/text/text.hpp"

namespace thalweg::history {

namespace {

/// Reads ranges of dimensions: {lon=[0,9], lat=[4,6]}.
void parse_index(Keys& keys, std::vector<IndexRange>& ranges) {
    const toml::table* const table = keys.table("index");
    if (table == nullptr) return;
    for (const auto& [name, node] : *table) {
        const toml::node_view<const toml::node> pair(node);
        const auto first = pair[0].value_exact<std::int64_t>();
        const auto last = pair[1].value_exact<std::int64_t>();
        if (first && last && !pair[2] && *first >= 0 && *first <= *last)
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
        const toml::node_view<const toml::node> pair(node);
        const double longitude = pair[0].value_or(1e9), latitude = pair[1].value_or(1e9);
        if (is_longitude(longitude) && is_latitude(latitude) && !pair[2])
            points.push_back({longitude, latitude});
        else
            keys.fail(node, "points: expected [longitude, latitude] in degrees");
    }
    if (list->empty()) keys.fail("points", "'points' is empty");
}

void parse_region(Keys& keys, const std::string& name, Table& parsed) {
    RegionTable region;
    region.line = keys.line();
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

void parse_map(Keys& keys, const std::string& name, Table& parsed) {
    MapTable map;
    map.line = keys.line();
    map.name = name;
    keys.text("file", map.file);
    keys.word("missing", map.missing);
    keys.number("min_fraction", map.min_fraction, 0, 1);
    keys.refuse(map.missing != MapTable::Missing::renormalize, {"min_fraction"},
                "needs missing = \"renormalize\"");
    if (const toml::table* const names = keys.table("names")) {
        Keys own(*names, keys.where() + ": names", keys.run(), keys.problems());
        own.text("lat", map.latitude);
        own.text("lon", map.longitude);
        own.finish();
        if (map.latitude == map.longitude) own.fail("lat", "'lat' and 'lon' need different names");
    }
    keys.finish();
    parsed.maps.emplace(name, std::move(map));
}

void parse_history(const toml::table& root, const RunTimes& run, Problems& problems, Table& table,
                   StreamTable& standard) {
    static const toml::table nothing;
    const toml::table* const given = root["history"].as_table();
    Keys keys(given != nullptr ? *given : nothing, "[history]", run, problems, "[history]");
    std::string units = "days since START";
    keys.text("time_units", units);
    keys.check("time_units", parse_time_units(run.calendar, units, run.start, table.time_units));
    keys.word("samples", table.edge);
    standard.counts = table.edge == Edge::begin;
    parse_weights(keys, table.edge, standard.counts);
    parse_anchor(keys, standard.anchor);
    keys.text("time", table.time);
    table.bounds = "{time}_bnds";
    keys.text("bounds", table.bounds);
    if (const auto place = table.bounds.find("{time}"); place != std::string::npos)
        table.bounds.replace(place, 6, table.time);
    keys.text("bounds_dim", table.bounds_dim);
    if (table.bounds == table.time || table.bounds_dim == table.time)
        keys.fail("bounds", "'time', 'bounds' and 'bounds_dim' need names of their own");
    keys.attributes("attributes", table.attributes);
    keys.word("missing_fields", table.missing_fields_warn);
    keys.word("unsent", table.unsent_error);
    keys.integer("max_open", table.max_open, 1, INT32_MAX);
    keys.flag("stamp_files", table.stamp_files);
    if (keys.text("tracking_prefix", table.tracking_prefix) && !table.stamp_files)
        keys.fail("tracking_prefix", "'tracking_prefix' has no effect without stamp_files = true");
    keys.finish();
}

void parse_groups(Keys& root, Table& table) {
    const toml::table* const groups = root.table("groups");
    if (groups == nullptr) return;
    for (const auto& [name, node] : *groups) {
        const toml::array* const list = node.as_array();
        Selectors selectors;
        if (list == nullptr || !read_selectors(*list, selectors))
            root.fail(node, "group '{}': expected a list of fields", name.str());
        else
            table.groups.emplace(name.str(), std::move(selectors));
    }
}

/// Reads each table of a table of tables, such as [region.NAME], by parse(its keys, its name).
template <class Parse>
void parse_each(Keys& root, std::string_view key, Parse&& parse) {
    const toml::table* const tables = root.table(key);
    if (tables == nullptr) return;
    for (const auto& [name, node] : *tables) {
        if (const toml::table* const found = node.as_table(); found != nullptr) {
            Keys keys(*found, fmt::format("{} '{}'", key, name.str()), root.run(), root.problems(),
                      fmt::format("[{}.NAME]", key));
            parse(keys, std::string(name.str()));
        } else {
            root.fail(node, "{0} '{1}': expected a table: [{0}.{1}]", key, name.str());
        }
    }
}

void parse_streams(Keys& root, const StreamTable& standard, const RunTimes& run,
                   const ReadSettings& settings, Table& table) {
    const toml::array* const streams = root.array("stream", "tables: [[stream]]");
    if (streams == nullptr) {
        if (!root.has("stream")) root.problems().push_back({0, "there is no [[stream]]"});
        return;
    }
    for (const toml::node& node : *streams) {
        if (const toml::table* const found = node.as_table(); found != nullptr)
            parse_stream(*found, standard, run, settings, root.problems(), table);
        else
            root.fail(node, "'stream': expected tables: [[stream]]");
    }
}

}  // namespace

std::int64_t StreamTable::line_of(std::string_view key) const {
    const auto found = lines.find(key);
    return found != lines.end() ? found->second : line;
}

Status problem_status(Problems problems, std::string_view name) {
    if (problems.empty()) return {};
    std::ranges::stable_sort(problems, {}, &Problem::line);
    Names texts;
    for (const auto& [line, text, column] : problems) {
        texts.emplace_back(name);
        if (line > 0) texts.back() += fmt::format(":{}", line);
        if (line > 0 && column > 0) texts.back() += fmt::format(":{}", column);
        texts.back() += ": " + text;
    }
    return {TW_ESETTING, detail::joined(texts, "\n")};
}

void parse_anchor(Keys& keys, Anchor& anchor) {
    const toml::node* const node = keys.find("anchor");
    if (node == nullptr) return;
    const auto word = node->value_exact<std::string>().value_or("");
    if (word == "calendar" || word == "start") {
        anchor.kind = word == "start" ? Anchor::Kind::start : Anchor::Kind::calendar;
        return;
    }
    anchor.kind = Anchor::Kind::date;
    if (const Status status = read_date(*node, keys.run().calendar, anchor.date); !status.ok()) {
        anchor = {};
        keys.fail("anchor", "'anchor': {}; or \"calendar\", or \"start\"", status.text);
    }
}

void parse_weights(Keys& keys, Edge edge, bool& counts) {
    const auto found = keys.word("weights");
    if (!found) return;
    counts = *found == 1;
    if (!counts && edge == Edge::begin)
        keys.fail("weights",
                  "'weights': a sample that is labelled by the begin of its step has no known "
                  "duration: \"duration\" needs samples = \"end\"");
}

Problems parse_table(std::string_view text, std::string_view name, const RunTimes& run,
                     const ReadSettings& settings, Table& table) {
    Problems problems;
    table = {};
    table.name = name;
    toml::table root;
    if (!read_toml(text, name, problems, root)) return problems;
    Keys keys(root, "", run, problems);
    StreamTable standard;
    keys.table("history");
    parse_history(root, run, problems, table, standard);
    parse_groups(keys, table);
    parse_each(keys, "region",
               [&](Keys& own, const std::string& region) { parse_region(own, region, table); });
    parse_each(keys, "map", [&](Keys& own, const std::string& map) { parse_map(own, map, table); });
    parse_each(keys, "field", [&](Keys& own, const std::string& field) {
        table.fields.emplace(field, parse_field(own, field, {}, true));
    });
    parse_streams(keys, standard, run, settings, table);
    keys.finish();
    if (!table.streams.empty() && std::ranges::none_of(table.streams, &StreamTable::packs))
        for (const auto& [field, own] : table.fields)
            if (own.chunks || own.quantize)
                problems.push_back(
                    {own.line, fmt::format("field '{}': '{}' has no effect: no stream has files of "
                                           "the format netcdf4",
                                           field, own.chunks ? "chunks" : "quantize")});
    check_references(table, problems);
    std::ranges::stable_sort(problems, {}, &Problem::line);
    return problems;
}

/// Makes boundaries that the parser has tried, so it cannot fail.
static Boundaries boundaries_of(const StreamTable& stream, const RunTimes& run,
                                const Duration& every) {
    Boundaries made;
    (void)Boundaries::make(run, every, stream.anchor, made);
    return made;
}

WindowRules window_rules(const Table& table, const StreamTable& stream, const RunTimes& run,
                         const std::optional<Inner>& inner) {
    WindowRules rules;
    rules.every = stream.every == Every::run ? Every::window : stream.every;
    (void)stream_boundaries(stream, run, rules.boundaries);
    rules.instant = stream.op == Op::instant;
    rules.drop_partial = stream.drop_partial;
    rules.edge = table.edge;
    rules.start = run.start;
    rules.step = run.step;
    if (stream.from) rules.from = time_of(run.calendar, *stream.from);
    if (stream.to) rules.to = time_of(run.calendar, *stream.to);
    if (stream.sample) rules.sample = boundaries_of(stream, run, *stream.sample);
    rules.hours = stream.hours;
    if (inner) rules.inner = boundaries_of(stream, run, inner->every);
    if (stream.timing.cycle) rules.inner = stream.timing.cycle.boundaries(run.calendar);
    // A list of times may contain the beginning of the stream.
    rules.initial = stream.initial || std::ranges::find(stream.timing.times, rules.begin()) !=
                                          stream.timing.times.end();
    return rules;
}

Status stream_boundaries(const StreamTable& stream, const RunTimes& run, Boundaries& made) {
    const auto time = [&](const std::optional<Date>& date, Time otherwise) {
        return date ? time_of(run.calendar, *date) : otherwise;
    };
    if (stream.every == Every::run)
        made = Boundaries::at_times(
            run.calendar,
            {std::max(time(stream.from, run.start), run.start), time(stream.to, forever - 1)});
    else if (!stream.timing.times.empty())
        made = Boundaries::at_times(run.calendar, stream.timing.times);
    else
        return Boundaries::make(run, stream.timing.intervals, stream.anchor, made);
    return {};
}

std::string every_text(const StreamTable& stream) {
    static const char* const words[] = {"", "step", "once", "run"};
    if (stream.every != Every::window) return words[static_cast<std::size_t>(stream.every)];
    if (!stream.timing.times.empty()) return "times";
    Names texts;
    for (const Interval& interval : stream.timing.intervals)
        texts.push_back(interval_text(interval));
    return detail::joined(texts, ", ");
}

Unit file_unit(const StreamTable& stream) {
    if (stream.new_file) return stream.new_file->unit;
    if (stream.every != Every::window || !stream.timing.times.empty()) return Unit::second;
    return std::ranges::min(stream.timing.intervals, {},
                            [](const Interval& interval) { return interval.every.unit; })
        .every.unit;
}

std::optional<Boundaries> file_boundaries(const StreamTable& stream, const RunTimes& run) {
    if (!stream.new_file) return {};
    return boundaries_of(stream, run, *stream.new_file);
}

}  // namespace thalweg::history
