// The configuration of a history, read from its TOML text. Every value is checked by itself.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "history/calendar/window.hpp"
#include "history/expressions/expression.hpp"
#include "history/statistics/statistic.hpp"
#include "thalweg/base.h"

namespace thalweg::detail {
class Settings;
}

namespace thalweg::history {

struct PathValues {
    std::string stream = {}, variable = {}, op = {}, every = {}, region = {}, map = {}, zoom = {};
    Calendar calendar = Calendar::standard;
    /// Nominal period of the file; if it ends before it begins, placeholders of dates are kept.
    Time begin = 0, end = -1;
    /// Unit of new_file, which determines the form of a date without a format.
    Unit coarseness = Unit::day;
};

/// Checks a template: placeholders and formats of dates. @return TW_OK, TW_ESETTING
Status check_path(std::string_view path);

bool path_has(std::string_view path, std::string_view placeholder);

/// Tests if files of different periods of a unit get different paths.
bool path_separates(std::string_view path, Unit unit);

std::string fill_path(std::string_view path, const PathValues& values);

/// An error in the text. Line 0: the error belongs to no line. Column 0: it is that of the line.
struct Problem {
    std::int64_t line = 0;
    std::string text;
    std::int64_t column = 0;
};

using Problems = std::vector<Problem>;

/// Returns TW_ESETTING with a text of one line per problem, sorted by line number:
/// "history.toml:17: stream 'daily': ...". TW_OK if there are no problems.
Status problem_status(Problems problems, std::string_view name);

struct Attribute {
    std::string name;
    std::variant<std::string, std::vector<std::int64_t>, std::vector<double>> value;
};
using Attributes = std::vector<Attribute>;

using Names = std::vector<std::string>;

/// Tests if a list has a name.
inline bool has(const Names& list, std::string_view name) {
    return std::ranges::find(list, name) != list.end();
}

/// A selector of fields: a name, a pattern, or all fields of a group.
struct Selector {
    std::string text;     ///< the selector without '-' and '@'
    bool remove = false;  ///< -NAME
    bool group = false;   ///< @NAME
    bool glob() const { return text.find_first_of("*?") != std::string::npos; }
};

struct Selectors {
    std::vector<Selector> list;
    std::int64_t line = 0;
};

struct Inner {
    Op op = Op::max;
    Duration every;
};

enum class FileType : std::uint8_t { float_, double_, same };

enum class LevelMethod : std::uint8_t { linear, log, conservative };
/// Values below the lowest level: missing ones, those of the lowest level, or those that follow
/// from the temperature there: a temperature, a geopotential, or its height.
enum class Below : std::uint8_t { missing, constant, temperature, geopotential, height };

/// A choice of elements along a dimension, or an interpolation along it.
struct Levels {
    std::string dim;
    std::vector<std::int64_t> index;
    std::optional<std::array<double, 2>> range;
    std::vector<double> nearest;

    /// Wanted values of the coordinate, or of the interfaces of layers; empty: elements are chosen.
    std::vector<double> values;
    std::string coordinate;  ///< field with the coordinate's values
    std::string name;        ///< dimension in the file
    LevelMethod method = LevelMethod::linear;
    Below below = Below::missing;
    bool up = false;  ///< the coordinate increases upward, as far as is known
    /// Fields from which temperatures and geopotentials below the lowest level follow.
    std::string surface_pressure, surface_geopotential, temperature;

    bool interpolates() const { return !values.empty(); }
    bool conserves() const { return method == LevelMethod::conservative; }
    std::int64_t size() const { return std::ssize(values) - (conserves() ? 1 : 0); }
};

enum class ReduceOp : std::uint8_t { mean, sum, min, max };

/// A reduction of each field of a stream over some of its dimensions; or a map to another grid.
struct Reduce {
    std::optional<ReduceOp> op;  ///< none: the fields are not reduced
    Names over;                  ///< dimensions; empty: the horizontal ones
    std::string by;              ///< coordinate with region numbers; empty: none
    std::string area;            ///< coordinate with the elements' weights; empty: none

    std::string map;  ///< name of a map; empty: none
    int zoom = -1;    ///< level of HEALPix to which fields are made coarser; -1: they are not
    bool maps() const { return !map.empty() || zoom >= 0; }
};

/// The keys of a field, in one stream or all. If a key is absent, the stream's value applies.
struct FieldKeys {
    std::int64_t line = 0;
    std::string name;
    std::string of;  ///< name of the model's field, or an expression; empty: same as `name`
    std::optional<Expression> expression;  ///< `of`, unless it is a name
    /// Line and column at which the text of the expression begins. Column 0: it is not known.
    std::int64_t of_line = 0, of_column = 0;
    std::optional<Op> op;
    std::optional<FileType> type;
    std::optional<std::string> weight;
    std::optional<Inner> inner;
    std::optional<std::string> units, long_name, standard_name, cell_methods;
    Attributes attributes;
    std::optional<std::string> chunks, quantize;
    std::optional<double> fill;

    /// Returns the column of a position in the expression; 0 if it is not known.
    std::int64_t column_of(std::size_t at) const {
        return of_column == 0 ? 0 : of_column + static_cast<std::int64_t>(at);
    }
};

/// The windows and samples of a stream, as far as they do not follow from one duration.
struct Timing {
    /// Lengths of Every::window, one after another.
    std::vector<Interval> intervals = std::vector<Interval>(1);
    std::vector<Time> times;  ///< ends of Every::window; empty: they follow from the intervals
    Cycle cycle;              ///< each bin has a record of each window
    /// Local solar times since midnight at which an element has samples; empty: all samples count.
    std::vector<Time> local_times;
};

struct StreamTable {
    std::int64_t line = 0;
    std::string name;
    Selectors fields;
    Every every = Every::window;
    Timing timing;
    Op op = Op::mean;
    /// Templates of the paths of its files, never empty, and of the aggregation file; empty: there
    /// is none.
    std::string path, aggregate;
    std::optional<Date> from, to;
    std::optional<Duration> new_file;
    std::int64_t records = 0;  ///< records per file; 0: no limit
    bool file_per_variable = false;
    FileType type = FileType::float_;
    Stamp stamp = Stamp::middle;
    Anchor anchor;
    bool drop_partial = false, initial = false, next_file = false, write_open = false;
    std::optional<Duration> sample;
    std::vector<Time> hours;  ///< times since midnight
    std::optional<Inner> inner;
    std::string weight;  ///< name of the weight field; empty: none
    bool counts = false, interval = false;
    double min_valid = 0;
    std::int64_t ddof = 0;
    std::string region;  ///< name of a region; empty: none
    std::optional<Levels> levels;
    Reduce reduce;
    std::string settings;  ///< settings for tw_create: "zstd=3; format=netcdf4"
    /// Setting of its files; none: they cannot be compressed, as far as is known.
    std::optional<std::string> quantize = "";
    Attributes attributes;
    std::int64_t sync = 0;  ///< records
    std::map<std::string, FieldKeys, std::less<>> field;
    /// Line number of each key.
    std::map<std::string, std::int64_t, std::less<>> lines;

    bool packs() const { return quantize.has_value(); }
    std::int64_t line_of(std::string_view key) const;
};

/// A range of a dimension, counted from 0; both ends are included.
struct IndexRange {
    std::string dim;
    std::int64_t first = 0, last = 0;
};

struct RegionTable {
    std::int64_t line = 0;
    std::string name;
    // A region is given by exactly one of these four members.
    std::vector<IndexRange> index;
    std::optional<std::array<double, 4>> box;   ///< west, east, south, north
    std::vector<std::array<double, 2>> points;  ///< longitude, latitude
    std::string points_file;
    std::string list_file;

    Names names;  ///< name of each point
    std::string list_var;
    std::int64_t base = 0;           ///< index that the list uses for the first element: 0 or 1
    std::vector<std::int64_t> list;  ///< set when the file has been read

    /// Tests if the elements are picked one by one.
    bool picks() const { return index.empty() && !box; }
};

struct MapTable {
    std::int64_t line = 0;
    std::string name;
    std::string file;
    /// Treatments of missing elements: others get their weights, they count as 0, or no result.
    enum class Missing : std::uint8_t { renormalize, zero, propagate };
    Missing missing = Missing::renormalize;
    double min_fraction = 0;  ///< share of the weights that has to belong to valid elements
    std::string latitude = "lat", longitude = "lon";  ///< names of the target's coordinates
};

struct Table {
    std::string name;  ///< name of the configuration file, for messages
    TimeUnits time_units;
    Edge edge = Edge::end;
    std::string time = "time", bounds = "time_bnds", bounds_dim = "bnds";
    Attributes attributes;
    bool missing_fields_warn = false;
    bool unsent_error = false;
    std::int64_t max_open = 512;
    bool stamp_files = false;
    std::string tracking_prefix;
    std::map<std::string, Selectors, std::less<>> groups;
    std::vector<StreamTable> streams;
    std::map<std::string, FieldKeys, std::less<>> fields;
    std::map<std::string, RegionTable, std::less<>> regions;
    std::map<std::string, MapTable, std::less<>> maps;
};

/// Reads the settings of a file ("zstd=3; format=netcdf4") as tw_create would.
using ReadSettings = std::function<Status(const std::string&, detail::Settings&)>;

/**
 * Reads a configuration and checks all that needs no declared field: keys, types, dates, durations,
 * boundaries, paths, operations, names of groups and regions.
 * @param name      of the file, for messages
 * @param settings  may be null: the files' settings are not checked
 * @return problems, empty if all is right; then `table` is complete
 */
Problems parse_table(std::string_view text, std::string_view name, const RunTimes& run,
                     const ReadSettings& settings, Table& table);

/// Returns all keys as text: a table of Markdown for each table of the configuration.
std::string key_text();

/// Returns the rules by which a stream's windows are formed.
/// @param inner  inner operation of one field; null: the stream's inner operation
WindowRules window_rules(const Table& table, const StreamTable& stream, const RunTimes& run,
                         const std::optional<Inner>& inner);

/// Makes the boundaries of a stream with Every::window. @return TW_OK, TW_ESETTING
Status stream_boundaries(const StreamTable& stream, const RunTimes& run, Boundaries& made);
/// Returns the lengths of Every::window, or "times", or the word for another value.
std::string every_text(const StreamTable& stream);
/// Returns values for the placeholders in the paths of a stream, but for dates and variables.
PathValues path_values(const StreamTable& stream);

Unit file_unit(const StreamTable& stream);

/// Returns the boundaries between a stream's files; none if the stream has one file.
std::optional<Boundaries> file_boundaries(const StreamTable& stream, const RunTimes& run);

}  // namespace thalweg::history
