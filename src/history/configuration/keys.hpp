// Reads the keys of a TOML table and collects every problem, with its line.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <toml++/toml.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "history/configuration/table.hpp"

namespace thalweg::history {

/// A key of a configuration.
struct KeyRow {
    std::string table;     ///< table of the key, as in the configuration: "[[stream]]"
    std::string name;      ///< NAME: any name
    std::string values;    ///< allowed values
    std::string standard;  ///< default, or "required", or empty
    std::string meaning;
};
std::span<const KeyRow> key_table();

inline std::int64_t line_of(const toml::node& node) {
    return static_cast<std::int64_t>(node.source().begin.line);
}

/// @return false if the text is not TOML, which is added as a problem
bool read_toml(std::string_view text, std::string_view name, Problems& problems, toml::table& root);

/// A reader of the keys of a TOML table. If a key is absent or wrong, the value keeps its default;
/// wrong keys are recorded as problems, and so are unknown ones by finish().
class Keys {
public:
    /// @param where  names the table in messages: "stream 'daily'"
    /// @param name   table as in key_table(), which lists its keys; empty: they are those read
    Keys(const toml::table& table, std::string where, const RunTimes& run, Problems& problems,
         std::string name = "")
        : table_(table), where_(std::move(where)), run_(run), problems_(problems), name_(name) {}

    const toml::node* find(std::string_view key);
    const toml::table* table(std::string_view key);
    const toml::array* array(std::string_view key, std::string_view expected);

    bool text(std::string_view key, std::string& value);
    void text(std::string_view key, std::optional<std::string>& value);
    void flag(std::string_view key, bool& value);
    void integer(std::string_view key, std::int64_t& value, std::int64_t least, std::int64_t most);
    void number(std::string_view key, double& value, double least, double most);
    void duration(std::string_view key, std::optional<Duration>& value);
    void date(std::string_view key, std::optional<Date>& value);
    void texts(std::string_view key, Names& values);
    void integers(std::string_view key, std::vector<std::int64_t>& values);
    void numbers(std::string_view key, std::vector<double>& values, std::size_t count = 0);
    void attributes(std::string_view key, Attributes& values);
    void selectors(std::string_view key, Selectors& values);

    /// Reads one of the words in key_table(). The position of the word is the value.
    std::optional<std::size_t> word(std::string_view key);
    template <class Enum>
    void word(std::string_view key, Enum& value) {
        if (const auto found = word(key)) value = static_cast<Enum>(*found);
    }

    bool has(std::string_view key) const { return table_.contains(key); }
    /// Returns the line in which the table begins.
    std::int64_t line() const { return line_of(table_); }
    /// Adds a problem with a key's value, or with the table if it has no such key.
    void fail(std::string_view key, const std::string& what);
    void fail(const toml::node& node, const std::string& what);
    template <class Place, class First, class... Rest>
    void fail(const Place& place, fmt::format_string<First, Rest...> format, First&& first,
              Rest&&... rest) {
        fail(place, fmt::format(format, std::forward<First>(first), std::forward<Rest>(rest)...));
    }
    /// Adds a problem with a key's value if a status is a failure.
    bool check(std::string_view key, const Status& status) {
        if (!status.ok()) fail(key, "'{}': {}", key, status.text);
        return status.ok();
    }
    /// Adds a problem for each of these keys that the table has, if a condition holds.
    void refuse(bool when, std::initializer_list<std::string_view> keys, std::string_view why);
    /// Adds a problem for each key that is not one of this table, or is required and missing.
    void finish();

    const RunTimes& run() const { return run_; }
    const std::string& where() const { return where_; }
    Problems& problems() { return problems_; }

private:
    template <class Take>
    bool read(std::string_view key, std::string_view expected, Take&& take);
    template <class T, class Take>
    bool read_list(std::string_view key, std::string_view expected, std::vector<T>& values,
                   Take&& take);

    const toml::table& table_;
    std::string where_;
    const RunTimes& run_;
    Problems& problems_;
    std::string name_;
    Names read_;
};

/// @return false if an element is not a text
bool read_selectors(const toml::array& array, Selectors& selectors);

/// Reads a date: a text, or a date of TOML. @return TW_OK, TW_EARG
Status read_date(const toml::node& node, Calendar calendar, Date& date);

/// @param standard  a stream with the values of keys that the table lacks
void parse_stream(const toml::table& table, const StreamTable& standard, const RunTimes& run,
                  const ReadSettings& settings, Problems& problems, Table& parsed);

/// Reads a table [stream.field.NAME] or, with `metadata_only`, [field.NAME].
/// @param found  values of keys that the table lacks
FieldKeys parse_field(Keys& keys, const std::string& name, FieldKeys found, bool metadata_only);

/// Reads an anchor: "calendar", "start" or a date.
void parse_anchor(Keys& keys, Anchor& anchor);
/// Reads the key `weights`, which is "duration" or "count".
void parse_weights(Keys& keys, Edge edge, bool& counts);

/// Finds times of a stream that no record or sample can have. Its boundaries must be right.
void check_records(Keys& keys, const StreamTable& stream, const WindowRules& rules);

/// Finds keys of a stream that have no effect with its other keys.
void check_effects(Keys& keys, const StreamTable& stream, Edge edge);
/// Finds settings of files that have no effect, and finds out if the files can be compressed.
/// @param given  settings of the configuration @param effective  all settings of the files
void check_file_settings(const toml::table& given, const detail::Settings& effective, Keys& keys,
                         StreamTable& stream);

void check_references(const Table& table, Problems& problems);

/// Returns one of a stream's paths with everything but dates and variables filled in.
std::string path_of(const StreamTable& stream, const std::string& path);

}  // namespace thalweg::history
