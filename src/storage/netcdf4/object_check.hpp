// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "storage/netcdf4/chunks/hdf5_view.hpp"

namespace thalweg::detail {

/**
 * Lists the data sets of a file's root group. Also checks all groups and data sets, including those
 * behind links, for defects that netCDF-C does not survive or does not explain: it crashes on a
 * dimension scale without dimensions, never returns from a group that contains itself, and does not
 * name a link that leads nowhere.
 * @param sets  receives the names
 * @return TW_OK; TW_EFORMAT, with the name of the defective object
 */
Status check_objects(const Hdf5View& view, const std::string& path, std::vector<std::string>& sets);

}  // namespace thalweg::detail
