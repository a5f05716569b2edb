// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <limits>

#include "history/configuration/parse.hpp"
#include "history/configuration/path.hpp"
#include "session/settings.hpp"

namespace thalweg::history {

namespace {

void parse_op(Keys& keys, std::optional<Op>& op) {
    if (keys.word("op")) op = op_of(*keys.find("op")->value_exact<std::string>());
}

void parse_inner(Keys& keys, std::optional<Inner>& inner) {
    const toml::table* const table = keys.table("inner");
    if (table == nullptr) return;
    Keys own(*table, keys.where() + ": inner", keys.run(), keys.problems(), "inner");
    std::optional<Op> op;
    parse_op(own, op);
    std::optional<Duration> every;
    own.duration("every", every);
    for (const std::string_view key : {"op", "every"})
        if (!own.has(key)) own.fail(key, "'{}' is missing", key);
    own.finish();
    if (op && every) inner = Inner{*op, *every};
}

template <class T>
bool repeats(std::vector<T> list) {
    std::ranges::sort(list);
    return std::ranges::adjacent_find(list) != list.end();
}

/// Reads the keys of an interpolation to levels.
void parse_interpolation(Keys& own, Levels& found) {
    if (!own.text("coordinate", found.coordinate) && own.has("values") && !own.has("coordinate"))
        own.fail("values", "'values' needs 'coordinate'");
    if (!own.text("name", found.name) && own.has("values")) found.name = found.coordinate + "lev";
    own.word("method", found.log);
    for (const std::string_view key : {"coordinate", "name", "method"})
        if (own.has(key) && !own.has("values")) own.fail(key, "'{}' needs 'values'", key);
    if (found.values.empty()) return;
    const std::vector<double>& v = found.values;
    if (std::ranges::adjacent_find(v, std::ranges::greater_equal()) != v.end() &&
        std::ranges::adjacent_find(v, std::ranges::less_equal()) != v.end())
        own.fail("values", "'values' neither increase nor decrease");
    if (found.log && *std::ranges::min_element(v) <= 0)
        own.fail("values", "'values' for method = \"log\" have to be above 0");
}

void parse_levels(Keys& keys, std::optional<Levels>& levels) {
    const toml::table* const table = keys.table("levels");
    if (table == nullptr) return;
    Keys own(*table, keys.where() + ": levels", keys.run(), keys.problems(), "levels");
    Levels found;
    std::vector<double> range;
    if (!own.text("dim", found.dim) && !own.has("dim")) own.fail("dim", "'dim' is missing");
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
            status = detail::failure(TW_ESETTING, "expected a text, an integer or a flag");
        else if (read)
            status = read(setting, effective);
        if (!status.ok()) keys.fail(node, "file: '{}': {}", name.str(), status.text);
        stream.settings += (stream.settings.empty() ? "" : "; ") + setting;
    }
    if (!read || keys.problems().size() != before) return;
    if (read(stream.settings, effective).ok()) check_file_settings(table, effective, keys, stream);
}

/// Reads times of the day, "hh:mm".
void parse_hours(Keys& keys, std::vector<Time>& hours) {
    std::vector<std::string> texts;
    keys.texts("hours", texts);
    for (const std::string& text : texts) {
        Date date;
        if (text.size() == 5 && parse_date(Calendar::noleap, "2001-01-01 " + text, date).ok())
            hours.push_back(date.time);
        else
            keys.fail("hours", "'hours': '{}' is not a time such as \"06:30\"", text);
    }
}

/// Reads "every": a duration or one of three words.
void parse_every(Keys& keys, StreamTable& stream) {
    if (!keys.has("every")) keys.fail("every", "'every' is missing");
    const toml::node* const node = keys.find("every");
    const auto word = node != nullptr ? node->value_exact<std::string>() : std::nullopt;
    constexpr std::array<std::pair<std::string_view, Every>, 3> words{
        {{"step", Every::step}, {"once", Every::once}, {"run", Every::run}}};
    for (const auto& [name, every] : words)
        if (word == name) {
            stream.every = every;
            return;
        }
    std::optional<Duration> found;
    keys.duration("every", found);
    if (found) stream.duration = *found;
}

/// Makes boundaries. Adds a problem if that fails.
std::optional<Boundaries> boundaries_of(Keys& keys, std::string_view key, const Duration& every,
                                        const Anchor& anchor) {
    const RunTimes& run = keys.run();
    Boundaries made;
    const Status status = Boundaries::make(run.calendar, every, anchor, run.start, run.step, made);
    if (status.ok()) return made;
    keys.fail(key, "'{}': {}", key, status.text);
    return {};
}

void check_inner(Keys& keys, const StreamTable& stream, const std::optional<Inner>& inner, Op op) {
    if (!inner) return;
    if (!is_statistic(op) || (stream.every != Every::window && stream.every != Every::run)) {
        keys.fail("inner", "'inner' needs a statistic of windows");
        return;
    }
    const auto fine = boundaries_of(keys, "inner", inner->every, stream.anchor);
    if (!fine || stream.every == Every::run) return;
    const RunTimes& run = keys.run();
    Boundaries coarse;
    if (Boundaries::make(run.calendar, stream.duration, stream.anchor, run.start, run.step, coarse)
            .ok() &&
        !coarse.refined_by(*fine))
        keys.fail("inner", "'inner': '{}' does not divide '{}' evenly", duration_text(inner->every),
                  duration_text(stream.duration));
}

bool takes_weights(Op op) { return op == Op::mean || op == Op::rms || op == Op::mean_square; }

void check_op(Keys& keys, const StreamTable& stream) {
    if ((stream.op == Op::once) != (stream.every == Every::once))
        keys.fail("op", "op = \"once\" needs every = \"once\", and the reverse");
    else if (stream.op == Op::instant && stream.every == Every::run)
        keys.fail("op", "op \"instant\" does not fit every = \"run\"");
    if (!stream.weight.empty() && !takes_weights(stream.op) && stream.op != Op::std)
        keys.fail("weight", "'weight' is for the operations mean, rms, mean_square and std");
    if (!stream.weight.empty() && stream.min_valid > 0)
        keys.fail("min_valid", "'min_valid' and 'weight' exclude each other");
    if (stream.ddof > 0 && (!stream.counts || !stream.weight.empty()))
        keys.fail("ddof", "'ddof' needs weights = \"count\" and no weight field");
}

void check_times(Keys& keys, const StreamTable& stream) {
    if (stream.every == Every::window && keys.has("every"))
        boundaries_of(keys, "every", stream.duration, stream.anchor);
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
    if (const Status status = check_path(stream.path); !status.ok()) {
        keys.fail("path", "'path': {}", status.text);
        return;
    }
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
    if (const Status status = check_path(stream.aggregate); !status.ok()) {
        keys.fail("aggregate", "'aggregate': {}", status.text);
        return;
    }
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
    for (const StreamTable& other : others)
        if (other.aggregate == stream.aggregate && !path_has(stream.aggregate, "stream"))
            keys.fail("aggregate", "'aggregate' is also that of stream '{}'", other.name);
}

void parse_stream_fields(Keys& keys, StreamTable& stream) {
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
        FieldKeys found = parse_field(*table, field, where, false, keys.run(), keys.problems());
        Keys own(*table, where, keys.run(), keys.problems());
        const Op op = found.op.value_or(stream.op);
        if (is_statistic(op) != is_statistic(stream.op) ||
            (op == Op::once) != (stream.op == Op::once))
            own.fail("op", "instants, statistics and fields without time need separate streams");
        if (found.weight && !found.weight->empty() && !takes_weights(op) && op != Op::std)
            own.fail("weight", "'weight' is for the operations mean, rms, mean_square and std");
        check_inner(own, stream, found.inner, op);
        stream.field.push_back(std::move(found));
    }
}

}  // namespace

/// Reads the field of the model, or the expression of fields.
static void parse_of(Keys& keys, FieldKeys& found) {
    if (!keys.text("of", found.of) || is_name(found.of)) return;
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

FieldKeys parse_field(const toml::table& table, const std::string& name, const std::string& where,
                      bool metadata_only, const RunTimes& run, Problems& problems) {
    Keys keys(table, where, run, problems, metadata_only ? "[field.NAME]" : "[stream.field.NAME]");
    FieldKeys found;
    found.line = line_of(table);
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

void parse_stream(const toml::table& table, const Defaults& defaults, const RunTimes& run,
                  const ReadSettings& settings, Problems& problems, Table& parsed) {
    StreamTable stream;
    const std::size_t before = problems.size();
    const std::string name = table["name"].value_or(std::string());
    Keys keys(table, name.empty() ? "stream" : fmt::format("stream '{}'", name), run, problems,
              "[[stream]]");
    stream.line = line_of(table);
    for (const auto& [key, node] : table) stream.lines.emplace(key.str(), line_of(node));
    if (!keys.text("name", stream.name) && !keys.has("name"))
        keys.fail("name", "'name' is missing");
    if (stream.name.find_first_of("/{}") != std::string::npos)
        keys.fail("name", "'name' has one of the characters / { }");
    stream.anchor = defaults.anchor;
    parse_anchor(keys, stream.anchor);
    stream.counts = defaults.counts;
    parse_weights(keys, parsed.edge, stream.counts);
    parse_every(keys, stream);
    std::optional<Op> op;
    parse_op(keys, op);
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
    parse_inner(keys, stream.inner);
    keys.text("weight", stream.weight);
    keys.number("min_valid", stream.min_valid, 0, 1);
    std::int64_t ddof = 0;
    keys.integer("ddof", ddof, 0, 1);
    stream.ddof = static_cast<int>(ddof);
    keys.flag("interval", stream.interval);
    keys.text("region", stream.region);
    parse_levels(keys, stream.levels);
    keys.refuse({"vertical", "map"});
    parse_settings(keys, settings, stream);
    keys.attributes("attributes", stream.attributes);
    keys.integer("sync", stream.sync, 0, INT64_MAX);
    parse_stream_fields(keys, stream);
    if (!keys.has("fields") && stream.field.empty()) keys.fail("fields", "'fields' is missing");
    keys.finish();
    check_op(keys, stream);
    check_effects(keys, stream, parsed.edge);
    check_times(keys, stream);
    if (problems.size() == before)
        check_records(keys, stream, window_rules(parsed, stream, run, std::nullopt));
    check_inner(keys, stream, stream.inner, stream.op);
    check_path_of(keys, stream);
    check_aggregate(keys, parsed.streams, stream);
    parsed.streams.push_back(std::move(stream));
}

}  // namespace thalweg::history
