// Whether a netCDF-4 file can be read whole, and what a killed writer leaves of its last records.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/status.hpp"

namespace thalweg::detail {

/// The record dimension of a netCDF-4 file.
struct Netcdf4Records {
    bool any = false;           ///< whether a variable has it
    std::int64_t longest = 0;   ///< its length: that of the longest variable
    std::int64_t shortest = 0;  ///< of the shortest one
};

/**
 * Reads all definitions, and asks HDF5's index for the places of all data of all data sets.
 * @param end  byte of the file that no data may lie behind
 * @return TW_OK; TW_EFORMAT, naming what cannot be read; TW_EINUSE if HDF5 has it locked; TW_EIO;
 *         TW_ENOMEM
 */
Status check_netcdf4_whole(const std::string& path, std::int64_t end, Netcdf4Records& records);

/**
 * Makes variables with the record dimension that are longer so long. Whoever opens the file
 * meanwhile, or after a kill, finds it as it was or as it is to be.
 * @return TW_OK, TW_EIO, TW_EFORMAT
 */
Status cut_netcdf4(const std::string& path, std::int64_t records);

/**
 * Puts the chunks into HDF5's index that a killed run has logged beside the file.
 * @return TW_OK, also if there is no log; TW_EIO, TW_EFORMAT
 */
Status enter_logged(const std::string& path);

/// Returns the records that a file has with what is logged beside it; 0 without a log.
std::int64_t logged_records(const std::string& path);

}  // namespace thalweg::detail
