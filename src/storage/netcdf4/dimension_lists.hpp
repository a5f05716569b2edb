// The attributes by which HDF5's dimension scales name the dimensions of a netCDF-4 file's
// variables. netCDF-C writes them, too, but with one call for each dimension of each variable, each
// of which writes the whole list of the scale again.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "definitions/definitions.hpp"

namespace thalweg::detail {

/// Adds the attributes to the bytes of a file that netCDF-C has made with NC_NODIMSCALE_ATTACH
/// (HDF5 Dimension Scale Specification): DIMENSION_LIST to each variable that is no scale,
/// REFERENCE_LIST to each scale that variables use.
/// @param path  path of the file, for messages
/// @return TW_OK, TW_ENETCDF
Status write_dimension_lists(std::vector<char>& image, const std::string& path,
                             const Definitions& definitions);

}  // namespace thalweg::detail
