// Zarr's metadata of a file's definitions, as JSON texts.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "definitions/definitions.hpp"

namespace thalweg::detail {

/// Formats a JSON string. Replaces bytes that are not UTF-8 by U+FFFD.
std::string json_string(std::string_view text);

/// Formats a list of numbers.
std::string list_text(const std::vector<std::int64_t>& values);

/// Converts a value of any type.
/// @param value  in the machine's byte order
double number_of(tw_type type, const char* value);

/// Formats the value of `fill_value`.
/// @param value  in the machine's byte order
std::string fill_text(tw_type type, const char* value);

/// Formats attributes as members of a JSON object, `"name":value`. Leaves out `_FillValue` if it
/// has the variable's type, since fill_value contains the same value. Also leaves out attributes
/// whose types netCDF's classic model lacks.
/// @param variable  null: the file's own attributes
std::vector<std::string> attribute_members(const Definitions& definitions,
                                           const Variable* variable);

/// Formats the names of a variable's dimensions as a list.
std::string dimensions_text(const Definitions& definitions, const Variable& variable);

/// Returns the attribute `_FillValue` if it has the variable's type; otherwise null.
const Attribute* fill_attribute(const Variable& variable);

}  // namespace thalweg::detail
