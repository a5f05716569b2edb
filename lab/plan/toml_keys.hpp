// Reads the keys of a TOML table strictly: a missing or unknown key, or a value of another type, is
// an error that names the file and the key.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <toml++/toml.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace thalweg::planning {

/// Parses TOML.
/// @param name  name of the file, for messages
/// @return TW_OK, TW_ESETTING
detail::Status parse_toml(std::string_view content, const std::string& name, toml::table& table);

/// The need for a key: a table that lacks a needed key is invalid.
enum class Key { needed, optional };

/// Reads keys one after another. Keeps the first error; after that, calls do nothing. A missing
/// optional key leaves the value unchanged.
class TomlKeys {
public:
    /// @param where  name of the file and table for messages, for example "run.toml: [[variables]]
    ///               2"
    TomlKeys(const toml::table& table, std::string where)
        : table_(table), where_(std::move(where)) {}

    void text(const char* key, std::string& value, Key kind = Key::needed);
    /// Reads a number of at least 0; greater than 0 if it is used as a divisor.
    void number(const char* key, double& value, Key kind = Key::needed);
    void positive(const char* key, double& value, Key kind = Key::needed);
    void integer(const char* key, std::int64_t& value, std::int64_t least, Key kind = Key::needed);
    void flag(const char* key, bool& value, Key kind = Key::needed);
    /// Reads a size in bytes: an integer, or a text such as "64 GiB".
    void size(const char* key, std::int64_t& value, Key kind = Key::needed);
    /// Reads an array of one or more positive numbers.
    void numbers(const char* key, std::vector<double>& values, Key kind = Key::needed);
    /// Returns a table, or an array of tables; null if there is none.
    const toml::table* table(const char* key, Key kind = Key::needed);
    std::vector<const toml::table*> tables(const char* key, Key kind = Key::needed);

    /// Records an error in a key's value.
    void fail(const char* key, const std::string& what);
    bool ok() const { return status_.ok() && missing_.empty(); }
    const std::string& where() const { return where_; }
    /// Checks that there was no error and that no unknown keys are left.
    /// @return TW_OK, TW_ESETTING
    detail::Status finish();

private:
    const toml::node* find(const char* key, Key kind);
    /// Reads a finite number of at least 0.
    /// @return false if there is none
    bool read_number(const char* key, Key kind, double& value);

    const toml::table& table_;
    std::string where_;
    std::vector<std::string> known_;
    std::string missing_;  ///< first missing key; an unknown key, which may be a misspelling, is
                           ///< reported before it
    detail::Status status_;
};

}  // namespace thalweg::planning
