// Reads the keys of a TOML table and collects every problem, with its line.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <toml++/toml.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "history/table.hpp"

namespace thalweg::history {

/// Problems of a configuration.
using Problems = std::vector<Problem>;

inline std::int64_t line_of(const toml::node& node) {
    return static_cast<std::int64_t>(node.source().begin.line);
}

/// Parses a text.
/// @return false if the text is not TOML, which is added as a problem
bool read_toml(std::string_view text, std::string_view name, Problems& problems, toml::table& root);

/// A reader of the keys of a TOML table. If a key is absent or wrong, the value keeps its default;
/// wrong keys are recorded as problems, and so are unknown ones by finish().
class Keys {
public:
    /// @param where  names the table in messages: "stream 'daily'"
    Keys(const toml::table& table, std::string where, const RunTimes& run, Problems& problems)
        : table_(table), where_(std::move(where)), run_(run), problems_(problems) {}

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
    void texts(std::string_view key, std::vector<std::string>& values);
    void integers(std::string_view key, std::vector<std::int64_t>& values);
    void numbers(std::string_view key, std::vector<double>& values, std::size_t count = 0);
    void attributes(std::string_view key, std::vector<Attribute>& values);
    void selectors(std::string_view key, Selectors& values);

    /// Reads one of several words. The position of the word is the value.
    template <std::size_t n>
    std::optional<std::size_t> word(std::string_view key,
                                    const std::array<std::string_view, n>& words) {
        return one_of(key, words.data(), n);
    }
    template <class Enum, std::size_t n>
    void word(std::string_view key, const std::array<std::string_view, n>& words, Enum& value) {
        if (const auto found = word(key, words)) value = static_cast<Enum>(*found);
    }

    bool has(std::string_view key) const { return table_.contains(key); }
    /// Adds a problem with a key's value, or with the table if it has no such key.
    void fail(std::string_view key, const std::string& what);
    /// Adds a problem for each of these keys that the table has.
    void refuse(std::initializer_list<std::string_view> keys);
    /// Adds a problem for each key that is not one of this table.
    /// @param table  as in key_table(); empty: its keys are those that were read
    void finish(std::string_view table = {});

    std::int64_t line_of_key(std::string_view key) const;
    const RunTimes& run() const { return run_; }
    const std::string& where() const { return where_; }
    Problems& problems() { return problems_; }

private:
    std::optional<std::size_t> one_of(std::string_view key, const std::string_view* words,
                                      std::size_t n);

    const toml::table& table_;
    std::string where_;
    const RunTimes& run_;
    Problems& problems_;
    std::vector<std::string> read_, refused_;
};

/// Reads a list of selectors.
/// @return false if an element is not a text
bool read_selectors(const toml::array& array, Selectors& selectors);

/// Reads a date: a text, or a date of TOML.
/// @return TW_OK, TW_EARG
Status read_date(const toml::node& node, Calendar calendar, Date& date);

}  // namespace thalweg::history
