// The filter zstd for HDF5, which has it only as a plugin.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/status.hpp"

namespace thalweg::detail {

/// Registers the filter with this library's HDF5 and with that of netCDF-C, unless it is there.
Status provide_zstd(const std::string& path);

}  // namespace thalweg::detail
