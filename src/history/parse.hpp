// The parts of the configuration's parser.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "history/keys.hpp"

namespace thalweg::history {

/// The keys of the table [history], which apply to all streams.
struct Defaults {
    Anchor anchor;
    bool counts = false;
};

/// Reads a table [[stream]].
void parse_stream(const toml::table& table, const Defaults& defaults, const RunTimes& run,
                  const CheckSettings& settings, Problems& problems, Table& parsed);

/// Reads a table [stream.field.NAME] or, with `metadata_only`, [field.NAME].
FieldKeys parse_field(const toml::table& table, const std::string& name, const std::string& where,
                      bool metadata_only, const RunTimes& run, Problems& problems);

void parse_region(const toml::table& table, const std::string& name, const RunTimes& run,
                  Problems& problems, Table& parsed);

/// Reads an anchor: "calendar", "start" or a date.
void parse_anchor(Keys& keys, Anchor& anchor);
/// Reads the key `weights`, which is "duration" or "count".
void parse_weights(Keys& keys, Edge edge, bool& counts);

/// Finds problems between streams and the things that they name.
void check_references(const Table& table, Problems& problems);

/// Returns a stream's path with everything but dates and variables filled in.
std::string path_of(const StreamTable& stream);

bool is_statistic(Op op);

}  // namespace thalweg::history
