// The only table of settings: names, defaults, meanings; and the sources of effective values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "comm/comm.hpp"

namespace thalweg::detail {

struct SettingRow {
    const char* name;
    const char* standard;  ///< default
    const char* values;    ///< allowed values, as text
    const char* meaning;
    bool per_file;                     ///< the setting can be passed to tw_create
    std::int64_t least = 0, most = 0;  ///< limits of a numeric value
};

/// Returns the table of all settings. tools/settings_page.py makes the table in docs/settings.md
/// from it.
const std::vector<SettingRow>& setting_table();

/// A value and where it comes from: "default", "file", "call" or "environment".
struct SettingValue {
    std::string text;
    std::string origin;
};

class Settings {
public:
    /// Reads the settings on one rank. Defaults are overridden by the configuration file, that by
    /// the call, and that by the environment.
    static Status read(const std::string& call, Settings& settings);
    /**
     * Reads the settings on all ranks. All values except that of "log" must be the same on all
     * ranks. If a rank names a configuration file, rank 0 reads it for all.
     * @param mine     this rank's own failure so far
     * @param fortran  receives true if rank 0 has language=fortran
     * @note Collective; the same status on every rank
     */
    static Status read(Comm& comm, const std::string& call, Status mine, Settings& settings,
                       bool& fortran);
    /// Returns these settings with those of one file's own call. The environment still has
    /// precedence.
    Status for_file(const std::string& call, Settings& settings) const;

    const std::string& text(const char* name) const;
    std::int64_t number(const char* name) const;  ///< Returns an integer or a size; -1 for "auto".
    /// Returns the number after a colon; -1 if there is none.
    std::int64_t second_number(const char* name) const;
    bool flag(const char* name) const;
    bool given(const char* name) const;  ///< Tests if a setting differs from its default.
    /// Returns a hash of the values that must be the same on all ranks.
    std::int64_t hash() const;
    /// Checks that all ranks have the same values.
    /// @note Collective; the same status on every rank
    Status compare(Comm& comm) const;
    /// Returns all settings as text, one line for each.
    std::string table() const;
    /// Returns the environment variables that begin with THALWEG_ but are not settings.
    const std::vector<std::string>& ignored() const { return ignored_; }

private:
    Status find_file(const std::string& call, std::string& path);
    Status apply_all(const std::string& call, const std::string& path, std::string_view content);
    Status apply(const std::string& name, const std::string& value, const std::string& origin);
    Status apply_toml(const std::string& path, std::string_view content);
    Status apply_list(const std::string& list, const std::string& origin, bool file_only);
    Status check_environment();
    std::map<std::string, SettingValue> values_;
    std::vector<std::string> ignored_;
};

/// Reads a configuration file on rank 0 and broadcasts it, because other ranks may have other
/// working folders.
/// @param path  path of the file; only rank 0's is used
/// @return TW_ESETTING if it cannot be read
/// @note Collective; the same status on every rank
Status read_on_root(Comm& comm, const std::string& path, std::vector<char>& content);

}  // namespace thalweg::detail
