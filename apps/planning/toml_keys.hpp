// The keys of a TOML table, read strictly: what is missing, unknown or of another type is an error
// that names the file and the key.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <toml++/toml.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace thalweg::planning {

/// Parses TOML. @param name  of the file, for messages. @return TW_OK, TW_ESETTING
detail::Status parse_toml(std::string_view content, const std::string& name, toml::table& table);

/// Whether a table has to have a key.
enum class Key { needed, optional };

/// Reads keys one after another. The first error is kept, and the calls after it do nothing; an
/// optional key that is not there leaves the value as it is.
class TomlKeys {
public:
    /// @param where  "run.toml", or "run.toml: [[variables]] 2", for messages
    TomlKeys(const toml::table& table, std::string where)
        : table_(table), where_(std::move(where)) {}

    void text(const char* key, std::string& value, Key kind = Key::needed);
    /// A number >= 0, or > 0 where it is a divisor.
    void number(const char* key, double& value, Key kind = Key::needed);
    void positive(const char* key, double& value, Key kind = Key::needed);
    void integer(const char* key, std::int64_t& value, std::int64_t least, Key kind = Key::needed);
    void flag(const char* key, bool& value, Key kind = Key::needed);
    /// Bytes: an integer, or a text such as "64 GiB".
    void size(const char* key, std::int64_t& value, Key kind = Key::needed);
    /// Positive numbers, one or more.
    void numbers(const char* key, std::vector<double>& values, Key kind = Key::needed);
    /// A table, null if there is none; and an array of tables.
    const toml::table* table(const char* key, Key kind = Key::needed);
    std::vector<const toml::table*> tables(const char* key, Key kind = Key::needed);

    /// Keeps an error of a key's value.
    void fail(const char* key, const std::string& what);
    bool ok() const { return status_.ok() && missing_.empty(); }
    const std::string& where() const { return where_; }
    /// Whether all went well, and no other keys are there. @return TW_OK, TW_ESETTING
    detail::Status finish();

private:
    const toml::node* find(const char* key, Key kind);
    /// A number that is finite and not negative; whether there is one.
    bool read_number(const char* key, Key kind, double& value);

    const toml::table& table_;
    std::string where_;
    std::vector<std::string> known_;
    std::string missing_;  ///< the first; one that is misspelt is told first
    detail::Status status_;
};

}  // namespace thalweg::planning
