// Whether a netCDF-4 file can be read whole.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "comm/status.hpp"

namespace thalweg::detail {

/**
 * Reads all definitions, and asks HDF5's index for the places of all data of all data sets.
 * @param end          byte of the file that no data may lie behind
 * @param has_records  receives whether a variable has the record dimension
 * @param records      receives the length of the record dimension
 * @return TW_OK; TW_EFORMAT, naming what cannot be read; TW_EINUSE if HDF5 has it locked; TW_EIO;
 *         TW_ENOMEM
 */
Status check_netcdf4_whole(const std::string& path, std::int64_t end, bool& has_records,
                           std::int64_t& records);

}  // namespace thalweg::detail
