// The only table of the keys of a configuration. docs/history.md has it, too, as `thalweg history
// --keys` prints it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

namespace thalweg::history {

struct KeyRow {
    const char* table;     ///< table of the key, as in the configuration: "[[stream]]"
    const char* name;      ///< NAME: any name
    const char* values;    ///< allowed values
    const char* standard;  ///< default, or "required", or empty
    const char* meaning;
};

std::span<const KeyRow> key_table();

/// Returns the table as text: a table of Markdown for each table of the configuration.
std::string key_text();

}  // namespace thalweg::history
