// Attributes between the C functions and the definitions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "definitions/definitions.hpp"

namespace thalweg::detail {

/// @param path  what the texts of failures begin with, here and below
Status make_attribute(const std::string& path, const char* name, tw_type type, std::int64_t n,
                      const void* values, Attribute& made);

/// Those of a variable; of the file for NULL or an empty name.
Status attributes_of(const std::string& path, const Definitions& definitions, const char* variable,
                     const NamedList<Attribute>*& found);

Status find_attribute(const std::string& path, const Definitions& definitions, const char* variable,
                      const char* name, const Attribute*& found);

/// @param byte_of_any_sign  whether the format leaves the sign of a byte to the reader
Status get_attribute(const std::string& path, const Attribute& attribute, bool byte_of_any_sign,
                     tw_type type, std::int64_t n, void* values);

Status get_attribute_text(const std::string& path, const Attribute& attribute, std::int64_t size,
                          char* text);

}  // namespace thalweg::detail
