// The attributes by which HDF5's dimension scales name the dimensions of a netCDF-4 file's
// variables. netCDF-C writes them, too, but with one call for each dimension of each variable, each
// of which writes the whole list of the scale again.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "definitions/definitions.hpp"

namespace thalweg::detail {

/// Adds the attributes that link variables and dimension scales (HDF5 Dimension Scale
/// Specification) to a file in memory, which netCDF-C has made without them (NC_NODIMSCALE_ATTACH).
/// Each variable that is not a scale gets a DIMENSION_LIST; each scale that variables use gets a
/// REFERENCE_LIST.
/// @param path  path of the file, for messages
/// @return TW_OK, TW_ENETCDF
Status write_dimension_lists(std::vector<char>& image, const std::string& path,
                             const Definitions& definitions);

}  // namespace thalweg::detail
