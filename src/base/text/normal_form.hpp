// Names in Unicode. Also compiled into libpioc, which has its own tables of names.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace thalweg::detail {

/// Returns a name in Unicode's normal form C, in which netCDF's libraries store names and look them
/// up. A name that is not UTF-8 is returned unchanged, as are all names in a build without
/// utf8proc.
std::string normal_form(std::string name);

/// Tests if text is valid UTF-8 (Unicode standard, table 3-7).
bool is_utf8(std::string_view text);

/// Tests if a byte of UTF-8 can belong to a code point from U+0300 (the first combining character)
/// on. Text without such bytes is in normal form C.
inline bool may_combine(char c) { return static_cast<unsigned char>(c) >= 0xcc; }

/// Tests if a name has only one form.
inline bool is_ascii(std::string_view name) {
    return std::all_of(name.begin(), name.end(), [](char c) { return c >= 0; });
}

/// Tests if netCDF treats two names as equal.
bool same_name(const std::string& a, const std::string& b);

}  // namespace thalweg::detail
