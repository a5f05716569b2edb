// Names in Unicode. Also compiled into libpioc, which has its own tables of names.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace thalweg::detail {

/// A name in Unicode's normal form C, in which netCDF's libraries store names and look them up.
/// A text that is not UTF-8 stays as it is, and so does every name in a build without utf8proc.
std::string normal_form(std::string name);

/// Tests if netCDF takes two names for one.
bool same_name(const std::string& a, const std::string& b);

}  // namespace thalweg::detail
