// Names in Unicode. Also compiled into libpioc, which has its own tables of names.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace thalweg::detail {

/// Returns a name in Unicode's normal form C, in which netCDF's libraries store names and look them
/// up. A name that is not UTF-8 is returned unchanged, as are all names in a build without
/// utf8proc.
std::string normal_form(std::string name);

/// Tests if netCDF treats two names as equal.
bool same_name(const std::string& a, const std::string& b);

}  // namespace thalweg::detail
