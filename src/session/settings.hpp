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
    bool per_file;                     ///< may be given to tw_create
    std::int64_t least = 0, most = 0;  ///< of a number
};

/// All settings. The table in docs/settings.md is made of it (tools/settings_page.py).
const std::vector<SettingRow>& setting_table();

/// A value and where it comes from: "default", "file", "call" or "environment".
struct SettingValue {
    std::string text;
    std::string origin;
};

class Settings {
public:
    /// Defaults, overridden by the configuration file, by the call, by the environment.
    static Status read(const std::string& call, Settings& settings);
    /**
     * The same on all ranks, which are to have the same values, but for what concerns one rank
     * alone (log). If a rank names a configuration file, rank 0 reads it for all.
     * @param mine     this rank's own failure so far
     * @param fortran  receives: rank 0 has language=fortran
     * @note Collective; the same status on every rank
     */
    static Status read(Comm& comm, const std::string& call, Status mine, Settings& settings,
                       bool& fortran);
    /// This, overridden for one file by its own call; the environment still wins.
    Status for_file(const std::string& call, Settings& settings) const;

    const std::string& text(const char* name) const;
    std::int64_t number(const char* name) const;  ///< integers and sizes; "auto" is -1
    bool flag(const char* name) const;
    bool given(const char* name) const;  ///< not the default
    /// Returns a hash of the values that all ranks have to have alike.
    std::int64_t hash() const;
    /// Returns the error that the ranks' values differ, if they do.
    /// @note Collective; the same status on every rank
    Status compare(Comm& comm) const;
    /// The table as text, one line a setting.
    std::string table() const;
    /// Variables of the environment that begin with THALWEG_ and mean nothing.
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

/// Reads a configuration file on rank 0 and broadcasts it, as the others may have other working
/// folders. @param path  of no use on other ranks
/// @return TW_ESETTING if it cannot be read
/// @note Collective; the same status on every rank
Status read_on_root(Comm& comm, const std::string& path, std::vector<char>& content);

}  // namespace thalweg::detail
