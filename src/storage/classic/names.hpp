// Names as netCDF's files hold them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/status.hpp"

namespace thalweg::detail {

/// Brings a name into Unicode's normal form C, in which netCDF's libraries look for it.
/// @param what  is named, for the text of a failure
/// @return TW_OK; TW_EARG: it is not UTF-8; TW_EUNSUPPORTED: it takes utf8proc, which the library
///         was built without
Status normalize(const char* what, std::string& name);

}  // namespace thalweg::detail
