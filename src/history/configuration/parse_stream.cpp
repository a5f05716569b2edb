// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>

#include "history/configuration/keys.hpp"
#include "session/settings.hpp"

namespace thalweg::history {

namespace {

/// @param cycle  receives the cycle of "diurnal" and "climatology"; null: they are refused
void parse_op(Keys& keys, std::optional<Op>& op, Cycle::Kind* cycle = nullptr) {
    if (!keys.word("op")) return;
    const std::string name = *keys.find("op")->value_exact<std::string>();
    op = op_of(name);
    if (op) return;
    op = Op::mean;
    if (cycle == nullptr)
        keys.fail("op", "'op': \"{}\" needs a stream of its own", name);
    else
        *cycle = name == "diurnal" ? Cycle::Kind::day : Cycle::Kind::year;
}

void parse_bins(Keys& keys, Cycle::Kind kind, Cycle& cycle) {
    if (kind == Cycle::Kind::year) {
        std::string bin = "month";
        keys.text("bins", bin);
        Duration length;
        if ((bin == "day" || bin == "month" || bin == "season") && parse_duration(bin, length).ok())
            cycle = {kind, length};
        else
            keys.fail("bins", "'bins': \"{}\" is not one of \"day\", \"month\", \"season\"", bin);
        return;
    }
    std::int64_t bins = 24;
    keys.integer("bins", bins, 1, 1440);
    if (kind == Cycle::Kind::none && keys.has("bins"))
        keys.fail("bins", "'bins' is for the operations diurnal and climatology");
    else if (86400 % bins != 0)
        keys.fail("bins", "'bins': a day has no {} bins of whole seconds", bins);
    else if (kind == Cycle::Kind::day)
        cycle = {kind, {86400 / bins, Unit::second}};
}

void parse_inner(Keys& keys, std::optional<Inner>& inner) {
    const toml::table* const table = keys.table("inner");
    if (table == nullptr) return;
    Keys own(*table, keys.where() + ": inner", keys.run(), keys.problems(), "inner");
    std::optional<Op> op;
    parse_op(own, op);
    std::optional<Duration> every;
    own.duration("every", every);
    own.finish();
    if (op && every) inner = Inner{*op, *every};
}

template <class T>
bool repeats(std::vector<T> list) {
    std::ranges::sort(list);
    return std::ranges::adjacent_find(list) != list.end();
}

void parse_interpolation(Keys& own, Levels& found) {
    if (!own.text("coordinate", found.coordinate) && own.has("values") && !own.has("coordinate"))
        own.fail("values", "'values' needs 'coordinate'");
    if (!own.text("name", found.name) && own.has("values")) found.name = found.coordinate + "lev";
    own.word("method", found.method);
    own.word("below", found.below);
    own.text("surface_pressure", found.surface_pressure);
    own.text("surface_geopotential", found.surface_geopotential);
    own.text("temperature", found.temperature);
    own.refuse(!own.has("values"), {"coordinate", "name", "method", "below"}, "needs 'values'");
    own.refuse(found.below == Below::missing,
               {"surface_pressure", "surface_geopotential", "temperature"},
               "needs below = \"extrapolate\"");
    own.refuse(found.conserves() && found.below != Below::missing, {"below"},
               "has no effect with method = \"conservative\"");
    if (found.values.empty()) return;
    const std::vector<double>& v = found.values;
    if (std::ranges::adjacent_find(v, std::ranges::greater_equal()) != v.end() &&
        std::ranges::adjacent_find(v, std::ranges::less_equal()) != v.end())
        own.fail("values", "'values' neither increase nor decrease");
    if (found.conserves() && v.size() < 2)
        own.fail("values", "'values' for method = \"conservative\" are two or more interfaces");
    if (found.method == LevelMethod::log && *std::ranges::min_element(v) <= 0)
        own.fail("values", "'values' for method = \"log\" have to be above 0");
}

void parse_levels(Keys& keys, std::optional<Levels>& levels) {
    const toml::table* const table = keys.table("levels");
    if (table == nullptr) return;
    Keys own(*table, keys.where() + ": levels", keys.run(), keys.problems(), "levels");
    Levels found;
    std::vector<double> range;
    own.text("dim", found.dim);
    own.integers("index", found.index);
    own.numbers("range", range, 2);
    own.numbers("nearest", found.nearest);
    own.numbers("values", found.values);
    if (own.has("index") + own.has("range") + own.has("nearest") + own.has("values") != 1)
        own.fail("dim", "expected one of 'index', 'range', 'nearest' and 'values'");
    parse_interpolation(own, found);
    if (range.size() == 2) {
        found.range = {range[0], range[1]};
        if (range[0] > range[1]) own.fail("range", "'range': the first number exceeds the second");
    }
    if (repeats(found.index)) own.fail("index", "'index' has an index twice");
    own.finish();
    levels = std::move(found);
}

void parse_reduce(Keys& keys, StreamTable& stream) {
    Reduce& reduce = stream.reduce;
    if (const auto op = keys.word("reduce")) reduce.op = static_cast<ReduceOp>(*op);
    keys.texts("over", reduce.over);
    keys.text("by", reduce.by);
    keys.text("area", reduce.area);
    const bool extreme = reduce.op == ReduceOp::min || reduce.op == ReduceOp::max;
    keys.refuse(!keys.has("reduce"), {"over", "by", "area"}, "has no effect without 'reduce'");
    keys.refuse(extreme, {"area", "weight"}, "has no effect with extremes");
    if (keys.has("over") && reduce.over.empty()) keys.fail("over", "'over' names no dimension");
    if (repeats(reduce.over)) keys.fail("over", "'over' names a dimension twice");
}

/// Reads the map of a stream, and the levels of a pyramid on HEALPix grids.
std::vector<std::int64_t> parse_map_of(Keys& keys, StreamTable& stream) {
    std::vector<std::int64_t> zooms;
    keys.text("map", stream.reduce.map);
    keys.integers("zoom", zooms);
    for (const std::int64_t zoom : zooms)
        if (zoom > 13) keys.fail("zoom", "'zoom': {} is not a level from 0 to 13", zoom);
    if (repeats(zooms)) keys.fail("zoom", "'zoom' has a level twice");
    stream.reduce.zoom = zooms.empty() ? -1 : static_cast<int>(zooms.front());
    if (zooms.size() > 1 && keys.has("aggregate") && !path_has(stream.aggregate, "zoom"))
        keys.fail("aggregate", "'aggregate' needs {zoom}, as a file describes those of one level");
    keys.refuse(stream.reduce.maps(), {"region", "reduce"}, "cannot be used with a map");
    return zooms;
}

/// Converts the settings of a stream's files to the form that tw_create takes, and checks them.
void parse_settings(Keys& keys, const ReadSettings& read, StreamTable& stream) {
    static const toml::table nothing;
    const toml::table* const given = keys.table("file");
    const toml::table& table = given != nullptr ? *given : nothing;
    detail::Settings effective;
    const std::size_t before = keys.problems().size();
    for (const auto& [name, node] : table) {
        std::string value;
        if (const auto text = node.value_exact<std::string>()) value = *text;
        if (const auto integer = node.value_exact<std::int64_t>()) value = std::to_string(*integer);
        if (const auto flag = node.value_exact<bool>()) value = *flag ? "yes" : "no";
        const std::string setting = fmt::format("{}={}", name.str(), value);
        Status status;
        if (value.empty() || setting.find(';') != std::string::npos)
            status = failure(TW_ESETTING, "expected a text, an integer or a flag");
        else if (read)
            status = read(setting, effective);
        if (!status.ok()) keys.fail(node, "file: '{}': {}", name.str(), status.text);
        stream.settings += (stream.settings.empty() ? "" : "; ") + setting;
    }
    if (!read || keys.problems().size() != before) return;
    if (read(stream.settings, effective).ok()) check_file_settings(table, effective, keys, stream);
}

void parse_hours(Keys& keys, std::vector<Time>& hours) {
    Names texts;
    keys.texts("hours", texts);
    for (const std::string& text : texts) {
        Date date;
        if (text.size() == 5 && parse_date(Calendar::noleap, "2001-01-01 " + text, date).ok())
            hours.push_back(date.time);
        else
            keys.fail("hours", "'hours': '{}' is not a time such as \"06:30\"", text);
    }
}

void parse_local_time(Keys& keys, StreamTable& stream) {
    std::vector<double> hours;
    keys.numbers("local_time", hours);
    for (const double hour : hours) {
        stream.timing.local_times.push_back(std::llround(hour * one_hour));
        if (hour < 0 || hour >= 24)
            keys.fail("local_time", "'local_time': {} is not an hour from 0 to 24", hour);
    }
    if (!hours.empty()) stream.counts = true;
}

/// Reads "times": dates, or durations since the start.
void parse_times(Keys& keys, StreamTable& stream) {
    const toml::array* const list = keys.array("times", "a list of dates or durations");
    if (list == nullptr) return;
    const RunTimes& run = keys.run();
    for (const toml::node& node : *list) {
        Date date;
        Duration since;
        Boundaries from_start;
        const std::string text = node.value_exact<std::string>().value_or("");
        if (read_date(node, run.calendar, date).ok())
            stream.timing.times.push_back(time_of(run.calendar, date));
        else if (parse_duration(text, since).ok() &&
                 Boundaries::make(run, since, {Anchor::Kind::start, {}}, from_start).ok())
            stream.timing.times.push_back(from_start.at(1));
        else
            keys.fail(node, "'times': '{}' is not a date, or a duration since the start", text);
    }
    if (list->empty()) keys.fail("times", "'times' is empty");
    if (std::ranges::adjacent_find(stream.timing.times, std::greater_equal{}) !=
        stream.timing.times.end())
        keys.fail("times", "'times': each has to be later than the one before");
}

/// Reads "every", durations or one of three words, or "times".
void parse_every(Keys& keys, StreamTable& stream) {
    parse_times(keys, stream);
    if (!keys.has("every") && !keys.has("times")) keys.fail("every", "'every' is missing");
    if (keys.has("every") && keys.has("times"))
        keys.fail("times", "'every' and 'times' exclude each other");
    const toml::node* const node = keys.find("every");
    const auto word = node != nullptr ? node->value_exact<std::string>() : std::nullopt;
    constexpr std::array<std::pair<std::string_view, Every>, 3> words{
        {{"step", Every::step}, {"once", Every::once}, {"run", Every::run}}};
    for (const auto& [name, every] : words)
        if (word == name) {
            stream.every = every;
            return;
        }
    Names texts;
    std::string one;
    if (node != nullptr && node->is_array())
        keys.texts("every", texts);
    else if (keys.text("every", one))
        texts = {one};
    for (std::size_t i = 0; i < texts.size(); ++i) {
        stream.timing.intervals.resize(i + 1);
        if (keys.check("every", parse_interval(texts[i], stream.timing.intervals[i])) &&
            stream.timing.intervals[i].until.has_value() != (i + 1 < texts.size()))
            keys.fail("every",
                      "'every': of several intervals, all but the last have an end, as in "
                      "\"1 hour to 24 hours\"; '{}' has {}",
                      texts[i], i + 1 < texts.size() ? "none" : "one");
    }
}

std::optional<Boundaries> boundaries_of(Keys& keys, std::string_view key, const Duration& every,
                                        const Anchor& anchor) {
    Boundaries made;
    const bool good = keys.check(key, Boundaries::make(keys.run(), every, anchor, made));
    return good ? std::optional(made) : std::nullopt;
}

void check_inner(Keys& keys, const StreamTable& stream) {
    if (!stream.inner) return;
    if (!is_statistic(stream.op) || is_difference(stream.op) ||
        (stream.every != Every::window && stream.every != Every::run)) {
        keys.fail("inner", "'inner' needs a statistic of windows");
        return;
    }
    const auto fine = boundaries_of(keys, "inner", stream.inner->every, stream.anchor);
    if (!fine || stream.every == Every::run) return;
    Boundaries coarse;
    if (stream_boundaries(stream, keys.run(), coarse).ok() && !coarse.refined_by(*fine))
        keys.fail("inner", "'inner': '{}' does not divide '{}' evenly",
                  duration_text(stream.inner->every), every_text(stream));
}

bool takes_weights(Op op) { return op == Op::mean || op == Op::rms || op == Op::mean_square; }

/// Reports an operation, of a stream or of a field in it, that cannot be used with other keys.
void check_op_of(Keys& keys, const StreamTable& stream, Edge edge) {
    const Op op = stream.op;
    const bool windows = stream.every == Every::window || stream.every == Every::run;
    if (stream.timing.cycle &&
        (!windows || op == Op::std || is_difference(op) || !is_statistic(op) || stream.inner))
        keys.fail("op",
                  "a diurnal cycle or climatology needs windows, and means, extremes or sums "
                  "without 'inner'");
    if (!stream.timing.local_times.empty() &&
        (!windows || !takes_weights(op) || stream.timing.cycle || stream.inner ||
         !stream.weight.empty()))
        keys.fail("local_time",
                  "'local_time' needs windows, and a mean, rms or mean_square without "
                  "'weight' and 'inner'");
    if (!stream.timing.local_times.empty() && stream.reduce.op &&
        (op != Op::mean || stream.reduce.op != ReduceOp::mean))
        keys.fail("local_time", "'local_time' with 'reduce' needs a mean of both");
    if (is_difference(op) && (edge == Edge::begin || stream.drop_partial))
        keys.fail("op", "op = \"{}\" needs samples = \"end\" and partial = \"write\"", op_name(op));
    if (!stream.weight.empty() && !takes_weights(op) && op != Op::std && !stream.reduce.op)
        keys.fail("weight", "'weight' is for the operations mean, rms, mean_square and std");
}

void check_op(Keys& keys, const StreamTable& stream) {
    if ((stream.op == Op::once) != (stream.every == Every::once))
        keys.fail("op", "op = \"once\" needs every = \"once\", and the reverse");
    else if (stream.op == Op::instant && stream.every == Every::run)
        keys.fail("op", "op \"instant\" does not fit every = \"run\"");
    if (!stream.weight.empty() && stream.min_valid > 0)
        keys.fail("min_valid", "'min_valid' and 'weight' exclude each other");
    if (stream.ddof > 0 && (!stream.counts || !stream.weight.empty()))
        keys.fail("ddof", "'ddof' needs weights = \"count\" and no weight field");
}

void check_times(Keys& keys, const StreamTable& stream) {
    Boundaries own;
    if (keys.check("every", stream_boundaries(stream, keys.run(), own)) && stream.timing.cycle &&
        stream.every == Every::window &&
        !own.refined_by(stream.timing.cycle.boundaries(keys.run().calendar)))
        keys.fail("bins", "'bins': a window of '{}' begins or ends within a bin",
                  every_text(stream));
    if (stream.timing.cycle && stream.every == Every::run && stream.to &&
        !stream.timing.cycle.boundaries(keys.run().calendar)
             .has(time_of(keys.run().calendar, *stream.to)))
        keys.fail("to", "'to' lies within a bin");
    if (stream.sample) boundaries_of(keys, "sample", *stream.sample, stream.anchor);
    if (stream.new_file) boundaries_of(keys, "new_file", *stream.new_file, stream.anchor);
    if (stream.from && stream.to &&
        time_of(keys.run().calendar, *stream.from) >= time_of(keys.run().calendar, *stream.to))
        keys.fail("to", "'to' is not after 'from'");
    if (stream.initial && stream.op != Op::instant)
        keys.fail("initial", "'initial' is for the operation instant");
}

/// Completes the path, and tests if all files get different names.
void check_path_of(Keys& keys, StreamTable& stream) {
    const bool many = stream.new_file || stream.records > 0;
    if (stream.new_file && stream.records > 0)
        keys.fail("records", "'new_file' and 'records' exclude each other");
    if (many && (stream.every == Every::once || stream.every == Every::run))
        keys.fail(
            stream.new_file ? "new_file" : "records",
            "a stream with a single record has a single file: leave 'new_file' and 'records' out");
    if (stream.path.empty())
        stream.path = std::string(stream.file_per_variable ? "{variable}_" : "") +
                      (many ? "{stream}_{start}.nc" : "{stream}.nc");
    if (!keys.check("path", check_path(stream.path))) return;
    stream.path = std::filesystem::path(stream.path).lexically_normal().string();
    if (stream.file_per_variable && !path_has(stream.path, "variable"))
        keys.fail("path", "'path' needs {variable}, as each variable has a file of its own");
    if (!stream.file_per_variable && path_has(stream.path, "variable"))
        keys.fail("path", "'path': {variable} needs files = \"variable\"");
    if (stream.records > 1 && (path_has(stream.path, "end") || path_has(stream.path, "last")))
        keys.fail("path",
                  "'path': {end} and {last} need 'new_file': the end of a file of several records "
                  "is not known when it begins");
    else if (many && !path_separates(stream.path, file_unit(stream)))
        keys.fail("path",
                  "'path': two files would have the same name: add a date as fine as '{}', such as "
                  "{{start}}",
                  stream.new_file ? "new_file" : "every");
}

void check_aggregate(Keys& keys, const std::vector<StreamTable>& others, StreamTable& stream) {
    if (stream.aggregate.empty()) return;
    if (!stream.new_file && stream.records == 0)
        keys.fail("aggregate", "'aggregate' needs 'new_file' or 'records'");
    if (!keys.check("aggregate", check_path(stream.aggregate))) return;
    for (const char* date : {"start", "end", "last"})
        if (path_has(stream.aggregate, date))
            keys.fail("aggregate", "'aggregate' describes all files, and cannot have {{{}}}", date);
    if (stream.file_per_variable != path_has(stream.aggregate, "variable"))
        keys.fail("aggregate", "'aggregate' {} {{variable}}, as a file has {}",
                  stream.file_per_variable ? "needs" : "cannot have",
                  stream.file_per_variable ? "one variable" : "all variables");
    const std::filesystem::path path(stream.aggregate);
    if (path.is_absolute() != std::filesystem::path(stream.path).is_absolute())
        keys.fail("aggregate", "'aggregate' and 'path' must both begin with '/', or neither");
    stream.aggregate = path.lexically_normal().string();
    const std::filesystem::path folder = std::filesystem::path(stream.aggregate).parent_path();
    if (std::filesystem::path(stream.path).lexically_relative(folder).empty())
        keys.fail("aggregate", "'aggregate': no relative path leads from its folder to 'path'");
    for (const StreamTable& other : others)
        if (path_of(other, other.aggregate) == path_of(stream, stream.aggregate))
            keys.fail("aggregate", "'aggregate' is also that of stream '{}'", other.name);
}

void parse_stream_fields(Keys& keys, StreamTable& stream, const Table& parsed) {
    const toml::table* const fields = keys.table("field");
    if (fields == nullptr) return;
    for (const auto& [name, node] : *fields) {
        const std::string field(name.str());
        const std::string where = fmt::format("{}, field '{}'", keys.where(), field);
        const toml::table* const table = node.as_table();
        if (table == nullptr) {
            keys.problems().push_back({line_of(node), where + ": expected a table"});
            continue;
        }
        Keys own(*table, where, keys.run(), keys.problems(), "[stream.field.NAME]");
        const auto all = parsed.fields.find(field);
        FieldKeys found =
            parse_field(own, field, all == parsed.fields.end() ? FieldKeys{} : all->second, false);
        for (const std::string_view key : {"chunks", "quantize"})
            if (!stream.packs() && own.has(key))
                own.fail(*table,
                         "'{}' has no effect in files of this format: it needs format = "
                         "\"netcdf4\"",
                         key);
        const Op op = found.op.value_or(stream.op);
        if (is_statistic(op) != is_statistic(stream.op) ||
            (op == Op::once) != (stream.op == Op::once))
            own.fail("op", "instants, statistics and fields without time need separate streams");
        StreamTable as_stream = stream;
        as_stream.op = op;
        as_stream.inner = found.inner;
        as_stream.weight = found.weight.value_or("");
        check_inner(own, as_stream);
        check_op_of(own, as_stream, parsed.edge);
        stream.field.emplace(field, std::move(found));
    }
}

}  // namespace

/// Reads "of": the name of a field of the model, or an expression of fields.
static void parse_of(Keys& keys, FieldKeys& found) {
    if (!keys.text("of", found.of)) return;
    found.expression.reset();
    if (is_name(found.of)) return;
    const toml::source_region& source = keys.find("of")->source();
    found.of_line = line_of(*keys.find("of"));
    // Positions in the text are columns only if each character stands for itself, in one line.
    const auto begin = static_cast<std::int64_t>(source.begin.column);
    const auto end = static_cast<std::int64_t>(source.end.column);
    if (source.begin.line == source.end.line && end - begin == std::ssize(found.of) + 2)
        found.of_column = begin + 1;
    const auto error = Expression::parse(found.of, found.expression.emplace());
    if (!error) return;
    keys.problems().push_back({found.of_line,
                               fmt::format("{}: 'of': {}", keys.where(), error->text),
                               found.column_of(error->at)});
    found.expression.reset();
}

FieldKeys parse_field(Keys& keys, const std::string& name, FieldKeys found, bool metadata_only) {
    found.line = keys.line();
    found.name = name;
    parse_of(keys, found);
    if (metadata_only && keys.has("of") && !found.expression)
        keys.fail("of", "'of': expected an expression: a field gets another name in a stream");
    if (!metadata_only) {
        parse_op(keys, found.op);
        if (const auto type = keys.word("type")) found.type = static_cast<FileType>(*type);
        keys.text("weight", found.weight);
        parse_inner(keys, found.inner);
    }
    keys.text("units", found.units);
    keys.text("long_name", found.long_name);
    keys.text("standard_name", found.standard_name);
    keys.text("cell_methods", found.cell_methods);
    keys.attributes("attributes", found.attributes);
    keys.text("chunks", found.chunks);
    keys.text("quantize", found.quantize);
    double fill = 0;
    keys.number("fill", fill, std::numeric_limits<double>::lowest(),
                std::numeric_limits<double>::max());
    if (keys.has("fill")) found.fill = fill;
    keys.finish();
    return found;
}

void parse_stream(const toml::table& table, const StreamTable& standard, const RunTimes& run,
                  const ReadSettings& settings, Problems& problems, Table& parsed) {
    StreamTable stream = standard;
    const std::size_t before = problems.size();
    const std::string name = table["name"].value_or(std::string());
    Keys keys(table, name.empty() ? "stream" : fmt::format("stream '{}'", name), run, problems,
              "[[stream]]");
    stream.line = line_of(table);
    for (const auto& [key, node] : table) stream.lines.emplace(key.str(), line_of(node));
    keys.text("name", stream.name);
    if (stream.name.find_first_of("/{}") != std::string::npos)
        keys.fail("name", "'name' has one of the characters / { }");
    parse_anchor(keys, stream.anchor);
    parse_weights(keys, parsed.edge, stream.counts);
    parse_every(keys, stream);
    std::optional<Op> op;
    Cycle::Kind cycle = Cycle::Kind::none;
    parse_op(keys, op, &cycle);
    parse_bins(keys, cycle, stream.timing.cycle);
    stream.op = op.value_or(stream.every == Every::once ? Op::once : Op::mean);
    keys.selectors("fields", stream.fields);
    keys.text("path", stream.path);
    keys.text("aggregate", stream.aggregate);
    keys.date("from", stream.from);
    keys.date("to", stream.to);
    keys.duration("new_file", stream.new_file);
    keys.integer("records", stream.records, 1, INT64_MAX);
    keys.word("files", stream.file_per_variable);
    keys.word("type", stream.type);
    keys.word("stamp", stream.stamp);
    keys.word("partial", stream.drop_partial);
    keys.flag("initial", stream.initial);
    keys.word("boundary", stream.next_file);
    keys.word("at_close", stream.write_open);
    keys.duration("sample", stream.sample);
    parse_hours(keys, stream.hours);
    parse_local_time(keys, stream);
    parse_inner(keys, stream.inner);
    keys.text("weight", stream.weight);
    keys.number("min_valid", stream.min_valid, 0, 1);
    keys.integer("ddof", stream.ddof, 0, 1);
    keys.flag("interval", stream.interval);
    keys.text("region", stream.region);
    parse_levels(keys, stream.levels);
    parse_reduce(keys, stream);
    std::vector<std::int64_t> zooms = parse_map_of(keys, stream);
    parse_settings(keys, settings, stream);
    keys.attributes("attributes", stream.attributes);
    keys.integer("sync", stream.sync, 0, INT64_MAX);
    parse_stream_fields(keys, stream, parsed);
    if (!keys.has("fields") && stream.field.empty()) keys.fail("fields", "'fields' is missing");
    keys.finish();
    check_op(keys, stream);
    check_op_of(keys, stream, parsed.edge);
    check_effects(keys, stream, parsed.edge);
    check_times(keys, stream);
    if (problems.size() == before)
        check_records(keys, stream, window_rules(parsed, stream, run, std::nullopt));
    check_inner(keys, stream);
    check_path_of(keys, stream);
    check_aggregate(keys, parsed.streams, stream);
    if (zooms.empty()) zooms = {-1};
    for (const std::int64_t zoom : zooms) {  // the levels of its pyramid on HEALPix grids
        StreamTable& one = parsed.streams.emplace_back(stream);
        one.reduce.zoom = static_cast<int>(zoom);
        if (zoom >= 0) one.name += fmt::format("_{}", zoom);
    }
}

}  // namespace thalweg::history
