// Zarr's metadata of a file's definitions, as JSON texts.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
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

/// Formats a type as the member `data_type`.
std::string data_type_text(tw_type type);

/// Tests if attribute_members() contains an attribute.
/// @param variable  its variable; null: it is the file's own
bool is_member(const Attribute& attribute, const Variable* variable);

/// Tests if JSON can hold an attribute: a text must be UTF-8 without NUL, unless it is a fill
/// value.
/// @param variable  its variable; null: it is the file's own
bool is_json(const Attribute& attribute, const Variable* variable);

/// Formats attributes as members of a JSON object, `"name":value`. Leaves out `_FillValue` if it
/// has the variable's type, since fill_value contains the same value. Also leaves out attributes
/// whose types netCDF's classic model lacks.
/// @param variable  null: the file's own attributes
std::vector<std::string> attribute_members(const Definitions& definitions,
                                           const Variable* variable);

/// Storage of the elements of an array. All lists begin with the record dimension, if there is
/// one.
struct ArrayStorage {
    std::vector<std::int64_t> shape, shard;  ///< elements of the array and of a shard
    std::vector<std::int64_t> chunk;         ///< elements of a chunk of a shard
    const char* endian = "little";           ///< byte order of elements: little or big
    std::vector<std::string> codecs;         ///< codecs of a chunk after `bytes`, as JSON
};

/// Formats the metadata of an array whose shards have names such as "c.0.0".
std::string array_metadata(const Definitions& definitions, const Variable& variable,
                           const ArrayStorage& storage);

/// Formats the metadata of a group.
/// @param arrays  members of a JSON object: the name and the metadata of each array
/// @param more    further members of the consolidated metadata, each after a comma
std::string group_metadata(const Definitions& definitions, const std::vector<std::string>& arrays,
                           const std::string& more);

/// Writes zarr.json in the folder of a group or an array, by renaming a complete file.
Status write_metadata(const std::string& folder, const std::string& text, bool durable);

/// A range of the file in which a chunk is stored. In an index, offset and size are the largest
/// unsigned numbers if a chunk is missing.
struct ChunkPlace {
    std::int64_t offset = -1, bytes = -1;
};

/// Encodes a shard's index: the place of each chunk, followed by a checksum; all little-endian.
std::string shard_index(std::span<const ChunkPlace> chunks);

/// Formats the names of a variable's dimensions as a list.
std::string dimensions_text(const Definitions& definitions, const Variable& variable);

/// Returns the attribute `_FillValue` if it has the variable's type; otherwise null.
const Attribute* fill_attribute(const Variable& variable);

}  // namespace thalweg::detail
