// SPDX-License-Identifier: Apache-2.0
#include "history/configuration/parse.hpp"

#include <algorithm>
#include <set>
#include <span>

#include "base/text/text.hpp"

namespace thalweg::history {

bool is_statistic(Op op) { return op != Op::instant && op != Op::once; }

std::int64_t StreamTable::line_of(std::string_view key) const {
    const auto found = lines.find(key);
    return found != lines.end() ? found->second : line;
}

const StreamTable* Table::stream(std::string_view wanted) const {
    const auto found = std::ranges::find(streams, wanted, &StreamTable::name);
    return found != streams.end() ? &*found : nullptr;
}

Status problem_status(std::vector<Problem> problems, std::string_view name) {
    if (problems.empty()) return {};
    std::ranges::stable_sort(problems, {}, &Problem::line);
    std::vector<std::string> texts;
    for (const Problem& problem : problems)
        texts.push_back(
            problem.line <= 0 ? fmt::format("{}: {}", name, problem.text)
            : problem.column <= 0
                ? fmt::format("{}:{}: {}", name, problem.line, problem.text)
                : fmt::format("{}:{}:{}: {}", name, problem.line, problem.column, problem.text));
    return {TW_ESETTING, detail::joined(std::span<const std::string>(texts), "\n")};
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

namespace {

void parse_history(const toml::table& root, const RunTimes& run, Problems& problems, Table& table,
                   Defaults& defaults) {
    static const toml::table nothing;
    const toml::table* const given = root["history"].as_table();
    Keys keys(given != nullptr ? *given : nothing, "[history]", run, problems, "[history]");
    std::string units = "days since START";
    keys.text("time_units", units);
    if (const Status status = parse_time_units(run.calendar, units, run.start, table.time_units);
        !status.ok())
        keys.fail("time_units", "'time_units': {}", status.text);
    keys.word("samples", table.edge);
    defaults.counts = table.edge == Edge::begin;
    parse_weights(keys, table.edge, defaults.counts);
    parse_anchor(keys, defaults.anchor);
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
    std::int64_t most = table.max_open;
    keys.integer("max_open", most, 1, INT32_MAX);
    table.max_open = static_cast<int>(most);
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

/// Reads each table of a table of tables, such as [region.NAME].
template <class Parse>
void parse_each(Keys& root, std::string_view key, Parse&& parse) {
    const toml::table* const tables = root.table(key);
    if (tables == nullptr) return;
    for (const auto& [name, node] : *tables) {
        if (const toml::table* const found = node.as_table(); found != nullptr)
            parse(*found, std::string(name.str()));
        else
            root.fail(node, "{0} '{1}': expected a table: [{0}.{1}]", key, name.str());
    }
}

void parse_streams(Keys& root, const Defaults& defaults, const RunTimes& run,
                   const ReadSettings& settings, Table& table) {
    const toml::array* const streams = root.array("stream", "tables: [[stream]]");
    if (streams == nullptr) {
        if (!root.has("stream")) root.problems().push_back({0, "there is no [[stream]]"});
        return;
    }
    for (const toml::node& node : *streams) {
        if (const toml::table* const found = node.as_table(); found != nullptr)
            parse_stream(*found, defaults, run, settings, root.problems(), table);
        else
            root.fail(node, "'stream': expected tables: [[stream]]");
    }
}

}  // namespace

std::vector<Problem> parse_table(std::string_view text, std::string_view name, const RunTimes& run,
                                 const ReadSettings& settings, Table& table) {
    Problems problems;
    table = {};
    table.name = name;
    toml::table root;
    if (!read_toml(text, name, problems, root)) return problems;
    Keys keys(root, "", run, problems);
    Defaults defaults;
    keys.table("history");
    parse_history(root, run, problems, table, defaults);
    parse_groups(keys, table);
    parse_each(keys, "region", [&](const toml::table& found, const std::string& region) {
        parse_region(found, region, run, problems, table);
    });
    parse_each(keys, "map", [&](const toml::table& found, const std::string& map) {
        parse_map(found, map, run, problems, table);
    });
    parse_each(keys, "field", [&](const toml::table& found, const std::string& field) {
        table.fields.emplace(field, parse_field(found, field, {}, fmt::format("field '{}'", field),
                                                true, run, problems));
    });
    parse_streams(keys, defaults, run, settings, table);
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

WindowRules window_rules(const Table& table, const StreamTable& stream, const RunTimes& run,
                         const std::optional<Inner>& inner) {
    WindowRules rules;
    const auto make = [&](const Duration& every) {
        Boundaries made;
        // cannot fail: the parser has tried it
        (void)Boundaries::make(run.calendar, every, stream.anchor, run.start, run.step, made);
        return made;
    };
    const auto time = [&](const std::optional<Date>& date) {
        return date ? std::optional(time_of(run.calendar, *date)) : std::nullopt;
    };
    rules.every = stream.every;
    (void)stream_boundaries(stream, run, rules.boundaries);
    rules.instant = stream.op == Op::instant;
    rules.drop_partial = stream.drop_partial;
    rules.edge = table.edge;
    rules.start = run.start;
    rules.step = run.step;
    rules.from = time(stream.from);
    rules.to = time(stream.to);
    if (stream.sample) rules.sample = make(*stream.sample);
    rules.hours = stream.hours;
    if (inner) rules.inner = make(inner->every);
    if (stream.timing.cycle) rules.inner = stream.timing.cycle.boundaries(run.calendar);
    // A list of times may contain the beginning of the stream.
    rules.initial = stream.initial || std::ranges::find(stream.timing.times, rules.begin()) !=
                                          stream.timing.times.end();
    return rules;
}

Status stream_boundaries(const StreamTable& stream, const RunTimes& run, Boundaries& made) {
    if (stream.timing.times.empty())
        return Boundaries::make(run.calendar, stream.timing.intervals, stream.anchor, run.start,
                                run.step, made);
    made = Boundaries::at_times(run.calendar, stream.timing.times);
    return {};
}

std::string every_text(const StreamTable& stream) {
    static const char* const words[] = {"", "step", "once", "run"};
    if (stream.every != Every::window) return words[static_cast<std::size_t>(stream.every)];
    if (!stream.timing.times.empty()) return "times";
    std::vector<std::string> texts;
    for (const Interval& interval : stream.timing.intervals)
        texts.push_back(interval_text(interval));
    return detail::joined(std::span<const std::string>(texts), ", ");
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
    Boundaries made;
    (void)Boundaries::make(run.calendar, *stream.new_file, stream.anchor, run.start, run.step,
                           made);
    return made;
}

}  // namespace thalweg::history
