// Finds problems between the keys of a stream, and between streams: keys without effect, times that
// no record can have, names that do not exist.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <initializer_list>
#include <map>

#include "base/text/nearest.hpp"
#include "history/configuration/keys.hpp"
#include "session/settings.hpp"

namespace thalweg::history {

namespace {

/// Returns the number of records that each file of a stream has; 0 if it is not known, or differs.
std::int64_t records_of_file(const StreamTable& stream) {
    const Timing& t = stream.timing;
    if (stream.records > 0 || !stream.new_file || stream.every != Every::window || t.cycle ||
        t.intervals.size() != 1 || t.intervals.front().until)
        return stream.records;
    const Duration &file = *stream.new_file, &every = t.intervals.front().every;
    for (const auto length : {unit_length, months_in}) {
        const std::int64_t whole = file.count * length(file.unit);
        const std::int64_t each = every.count * length(every.unit);
        if (each > 0 && whole > 0 && whole % each == 0) return whole / each;
    }
    return 0;
}

std::string hour_text(Time of_day) {
    return fmt::format("\"{:02}:{:02}\"", of_day / one_hour, of_day % one_hour / (one_hour / 60));
}

/// Finds times of the day at which no sample, or no instant, can be.
void check_hours(Keys& keys, const StreamTable& stream, const WindowRules& rules) {
    for (const Time hour : rules.hours) {
        if (rules.sample && (hour - rules.sample->at(0)) % rules.sample->daily() != 0)
            keys.fail("hours",
                      "'hours': {} has no record: no multiple of sample = \"{}\" is at this time",
                      hour_text(hour), duration_text(*stream.sample));
        if (!rules.instant || rules.every != Every::window) continue;
        Time before = hour - one_day;
        for (const Time other : rules.hours)
            before = std::max(before, other < hour ? other : other - one_day);
        const auto passed = [&](Time time) {
            return floor_div(time - rules.boundaries.at(0), rules.boundaries.daily());
        };
        if (passed(hour) == passed(before))
            keys.fail("hours",
                      "'hours': {} has no record: a record is the first sample at or after a "
                      "multiple of \"{}\", which is that at {}: take a shorter 'every'",
                      hour_text(hour), every_text(stream), hour_text((before + one_day) % one_day));
    }
}

bool has_record(const WindowRules& rules) {
    const Time begin = rules.begin(), end = *rules.to;
    if (end <= begin) return false;
    if (rules.instant && rules.initial) return true;
    if (rules.filters() && (rules.instant || rules.every != Every::window)) {
        Time chosen = rules.last_chosen(end);
        while (chosen > begin && rules.instant && !rules.has_instant(chosen))
            chosen = rules.last_chosen(chosen - 1);
        return chosen > begin;
    }
    if (rules.every != Every::window) return true;
    std::int64_t first = rules.boundaries.last(begin) + 1;
    if (rules.drop_partial && rules.boundaries.at(first - 1) < begin) ++first;
    return rules.boundaries.at(first) <= end;
}

/// Reports a name that a map lacks. @param text  the problem
template <class Named>
void check_name(std::int64_t line, const std::string& text, const std::string& name,
                const Named& known, Problems& problems) {
    if (name.empty() || known.contains(name)) return;
    Names names;
    for (const auto& [each, value] : known) names.push_back(each);
    problems.push_back({line, text + detail::did_you_mean(name, names)});
}

void check_groups(const Table& table, const Selectors& selectors, const std::string& where,
                  Problems& problems) {
    for (const Selector& selector : selectors.list)
        if (selector.group)
            check_name(selectors.line,
                       fmt::format("{}: there is no group '{}'", where, selector.text),
                       selector.text, table.groups, problems);
}

/// Tests if a group refers, perhaps through others, to a group that the search has not left.
/// @param left  the groups that it has entered: true if it has left them
bool is_circular(const Table& table, const std::string& group, std::map<std::string, bool>& left) {
    if (const auto [place, fresh] = left.try_emplace(group, false); !fresh) return !place->second;
    const auto found = table.groups.find(group);
    const bool circular = found != table.groups.end() &&
                          std::ranges::any_of(found->second.list, [&](const Selector& selector) {
                              return selector.group && is_circular(table, selector.text, left);
                          });
    left[group] = true;
    return circular;
}

void check_streams(const Table& table, Problems& problems) {
    for (std::size_t i = 0; i < table.streams.size(); ++i) {
        const StreamTable& stream = table.streams[i];
        for (std::size_t j = 0; j < i; ++j) {
            const StreamTable& other = table.streams[j];
            if (!stream.name.empty() && stream.name == other.name)
                problems.push_back({stream.line_of("name"),
                                    fmt::format("stream '{}': line {} has a stream of this name",
                                                stream.name, other.line)});
            // With a file per variable, streams can share a path if they have different variables.
            else if (!stream.file_per_variable &&
                     path_of(stream, stream.path) == path_of(other, other.path))
                problems.push_back({stream.line_of("path"),
                                    fmt::format("stream '{}': 'path': its files would have the "
                                                "same names as those of stream '{}'",
                                                stream.name, other.name)});
        }
    }
}

}  // namespace

void check_effects(Keys& keys, const StreamTable& stream, Edge edge) {
    const auto refuse = [&](bool idle, std::string_view with,
                            std::initializer_list<std::string_view> names) {
        keys.refuse(idle, names, fmt::format("has no effect with {}", with));
    };
    const Every every = stream.every;
    const bool once = every == Every::once, instant = stream.op == Op::instant;
    refuse(once, "every = \"once\"",
           {"from", "to", "sample", "hours", "anchor", "partial", "at_close", "boundary", "stamp",
            "weights", "min_valid", "interval", "sync"});
    refuse(instant, "op = \"instant\"",
           {"partial", "at_close", "stamp", "weights", "min_valid", "interval"});
    refuse(!stream.timing.times.empty(), "'times'", {"sample", "hours", "boundary"});
    refuse(!stream.timing.times.empty() && !stream.new_file && !stream.inner, "'times'",
           {"anchor"});
    refuse(is_difference(stream.op) && stream.field.empty(), "differences",
           {"weights", "min_valid", "interval"});
    refuse(!stream.timing.local_times.empty(), "'local_time'",
           {"weights", "min_valid", "interval", "sample", "hours"});
    refuse(static_cast<bool>(stream.timing.cycle), "a cycle", {"records", "interval", "inner"});
    if (once || instant) {
        refuse(instant && !stream.new_file, "a stream that has no 'new_file'", {"boundary"});
        refuse(stream.counts, "an operation other than std", {"ddof"});
        return;
    }
    refuse(true, "an operation other than instant", {"boundary"});
    refuse(counts_valid(stream.op), "an operation that counts", {"min_valid"});
    refuse(every == Every::run, "every = \"run\"", {"partial", "at_close"});
    refuse(every == Every::step, "every = \"step\"", {"partial"});
    refuse(every == Every::step && edge == Edge::end, "every = \"step\"", {"at_close"});
    refuse(every != Every::window && !stream.new_file && !stream.sample && !stream.inner &&
               std::ranges::none_of(
                   stream.field, [](const auto& field) { return field.second.inner.has_value(); }),
           every == Every::run ? "every = \"run\"" : "every = \"step\"", {"anchor"});
    refuse(stream.inner.has_value(), "'inner'", {"interval"});
    refuse(stream.interval && keys.run().step == 0, "steps of unknown length", {"interval"});
    refuse(stream.counts && stream.weight.empty() && stream.op != Op::std &&
               std::ranges::none_of(stream.field,
                                    [](const auto& field) { return field.second.op == Op::std; }),
           "an operation other than std", {"ddof"});
}

void check_file_settings(const toml::table& given, const detail::Settings& effective, Keys& keys,
                         StreamTable& stream) {
    const std::string& format = effective.text("format");
    const bool packs = format.starts_with("netcdf4") || format == "zarr" ||
                       (format == "auto" && effective.text("storage") == "netcdf4");
    stream.quantize = packs ? std::optional(effective.text("quantize")) : std::nullopt;
    const auto refuse = [&](bool idle, std::string_view why,
                            std::initializer_list<const char*> names) {
        for (const char* name : names)
            if (const toml::node* node = given.get(name); idle && node != nullptr)
                if (effective.given(name))
                    keys.fail(*node, "file: '{}' has no effect{}", name, why);
    };
    const std::string why = fmt::format(" in files of the format {}: it needs format = \"netcdf4\"",
                                        format == "auto" ? "cdf2 or cdf5" : format);
    refuse(!packs, why, {"deflate", "shuffle", "zstd", "quantize", "chunks"});
    refuse(!packs || format == "zarr", why, {"packing"});
    // Chunks of several records divide every file, so that the files can be joined.
    if (const std::int64_t n = records_of_file(stream);
        n > 0 && effective.text("packing") == "cmip7")
        stream.settings += fmt::format("; packing=cmip7:{}", n);
    refuse(effective.text("method") != "tiles", ": it needs method = \"tiles\"", {"tiles"});
    if (!stream.aggregate.empty() && (format == "zarr" || effective.text("files") != "one"))
        keys.fail("aggregate", "'aggregate' describes single netCDF files, not {} = \"{}\"",
                  format == "zarr" ? "format" : "files",
                  format == "zarr" ? format : effective.text("files"));
    refuse(true, ": it is for files that are read",
           {"mode", "readers", "read_ahead", "common_records"});
}

void check_records(Keys& keys, const StreamTable& stream, const WindowRules& rules) {
    const std::size_t before = keys.problems().size();
    if (!stream.timing.times.empty() &&
        rules.boundaries.at(rules.boundaries.last(rules.begin()) + 1) == forever && !rules.initial)
        keys.fail("times", "'times': none is after {}, the begin of the stream",
                  date_text(rules.boundaries.calendar(), rules.begin()));
    check_hours(keys, stream, rules);
    if (keys.problems().size() != before || !rules.to || rules.every == Every::once ||
        has_record(rules))
        return;
    const Calendar calendar = rules.boundaries.calendar();
    keys.fail("to", "'to': the stream has no record: {} between {} and {}",
              *rules.to <= rules.begin()     ? "there is no time"
              : rules.every != Every::window ? "no time of 'hours' or 'sample' is"
              : rules.instant ? fmt::format("no instant of \"{}\" is", every_text(stream))
                              : fmt::format("no window of \"{}\" ends", every_text(stream)),
              date_text(calendar, rules.begin()), date_text(calendar, *rules.to));
}

PathValues path_values(const StreamTable& stream) {
    const int zoom = stream.reduce.zoom;
    return {.stream = stream.name,
            .variable = "{variable}",
            .op = std::string(op_name(stream.op)),
            .every = every_text(stream),
            .region = stream.region,
            .map = stream.reduce.map,
            .zoom = zoom < 0 ? "" : std::to_string(zoom)};
}

std::string path_of(const StreamTable& stream, const std::string& path) {
    return fill_path(path, path_values(stream));
}

void check_references(const Table& table, Problems& problems) {
    std::map<std::string, bool> left;
    for (const auto& [name, selectors] : table.groups) {
        check_groups(table, selectors, fmt::format("group '{}'", name), problems);
        if (is_circular(table, name, left))
            problems.push_back({selectors.line, fmt::format("group '{}' contains itself", name)});
    }
    for (const StreamTable& stream : table.streams) {
        const std::string where = fmt::format("stream '{}'", stream.name);
        check_groups(table, stream.fields, where, problems);
        check_name(stream.line_of("region"),
                   fmt::format("{}: 'region': there is no [region.{}]", where, stream.region),
                   stream.region, table.regions, problems);
        check_name(stream.line_of("map"),
                   fmt::format("{}: 'map': there is no [map.{}]", where, stream.reduce.map),
                   stream.reduce.map, table.maps, problems);
        const auto map = table.maps.find(stream.reduce.map);
        const bool weighted = !stream.weight.empty() || !stream.timing.local_times.empty() ||
                              std::ranges::any_of(stream.field, [](const auto& field) {
                                  return !field.second.weight.value_or("").empty();
                              });
        if (map != table.maps.end() && weighted && !stream.inner &&
            (map->second.min_fraction > 0 || map->second.missing == MapTable::Missing::zero))
            problems.push_back(
                {stream.line_of("map"),
                 fmt::format("{}: 'min_fraction' and missing = \"zero\" of map '{}' have "
                             "no effect with 'weight' or 'local_time'",
                             where, map->first)});
        const auto region = table.regions.find(stream.region);
        if (stream.reduce.op && region != table.regions.end() && region->second.picks())
            problems.push_back(
                {stream.line_of("region"),
                 where + ": 'reduce' and a region of points or a list exclude each other"});
    }
    check_streams(table, problems);
}

}  // namespace thalweg::history
