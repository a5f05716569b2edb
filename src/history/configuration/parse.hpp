// The parts of the configuration's parser.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "history/configuration/keys.hpp"

namespace thalweg::history {

/// The keys of the table [history], which apply to all streams.
struct Defaults {
    Anchor anchor;
    bool counts = false;
};

/// Reads a table [[stream]].
void parse_stream(const toml::table& table, const Defaults& defaults, const RunTimes& run,
                  const ReadSettings& settings, Problems& problems, Table& parsed);

/// Reads a table [stream.field.NAME] or, with `metadata_only`, [field.NAME].
/// @param found  values of keys that the table lacks
FieldKeys parse_field(const toml::table& table, const std::string& name, FieldKeys found,
                      const std::string& where, bool metadata_only, const RunTimes& run,
                      Problems& problems);

void parse_region(const toml::table& table, const std::string& name, const RunTimes& run,
                  Problems& problems, Table& parsed);
void parse_map(const toml::table& table, const std::string& name, const RunTimes& run,
               Problems& problems, Table& parsed);

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

/// Finds problems between streams and the things that they name.
void check_references(const Table& table, Problems& problems);

/// Returns one of a stream's paths with everything but dates and variables filled in.
std::string path_of(const StreamTable& stream, const std::string& path);

bool is_statistic(Op op);

}  // namespace thalweg::history
