// Attributes between the C functions and the definitions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "definitions/definitions.hpp"

namespace thalweg::detail {

/// Makes an attribute from the arguments of a call.
/// @param path  path of the file, for error messages; also in the functions below
Status make_attribute(const std::string& path, const char* name, tw_type type, std::int64_t n,
                      const void* values, Attribute& made);

/// Finds the attributes of a variable, or those of the file if `variable` is null or empty.
Status attributes_of(const std::string& path, const Definitions& definitions, const char* variable,
                     const NamedList<Attribute>*& found);

Status find_attribute(const std::string& path, const Definitions& definitions, const char* variable,
                      const char* name, const Attribute*& found);

/// Converts the values of an attribute.
/// @param byte_of_any_sign  in this format, values of type byte can be interpreted as signed or
///                          unsigned
Status get_attribute(const std::string& path, const Attribute& attribute, bool byte_of_any_sign,
                     tw_type type, std::int64_t n, void* values);

Status get_attribute_text(const std::string& path, const Attribute& attribute, std::int64_t size,
                          char* text);

}  // namespace thalweg::detail
