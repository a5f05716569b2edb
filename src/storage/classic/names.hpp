// Names in the form in which netCDF files store them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/status.hpp"

namespace thalweg::detail {

/// Converts a name to Unicode's normal form C, in which netCDF's libraries look it up.
/// @param what  kind of object that has the name, for error texts
/// @return TW_OK; TW_EARG: the name is not UTF-8; TW_EUNSUPPORTED: the conversion needs utf8proc,
///     which this build lacks
Status normalize(const char* what, std::string& name);

}  // namespace thalweg::detail
