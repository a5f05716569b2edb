// Checks that all of a netCDF-4 file can be read, and repairs one that a killed writer has left.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/status.hpp"

namespace thalweg::detail {

/// Numbers of records in a netCDF-4 file.
struct Netcdf4Records {
    bool any = false;           ///< some variable has records
    std::int64_t longest = 0;   ///< number of records of the longest variable
    std::int64_t shortest = 0;  ///< number of records of the shortest variable
};

/**
 * Checks that a file is complete: reads all definitions, and looks up the places of all data of all
 * data sets in HDF5's index.
 * @param end  offset in the file before which all data must end
 * @return TW_OK; TW_EFORMAT, naming the damaged part; TW_EINUSE if HDF5 has locked the file;
 *     TW_EIO; TW_ENOMEM
 */
Status check_netcdf4_whole(const std::string& path, std::int64_t end, Netcdf4Records& records);

/**
 * Removes the records after the first `records` of all variables. A reader that opens the file
 * meanwhile, or after the process was killed, finds either the old or the new state.
 * @return TW_OK, TW_EIO, TW_EFORMAT
 */
Status cut_netcdf4(const std::string& path, std::int64_t records);

/**
 * Enters the chunks that a killed run has logged beside the file into HDF5's index.
 * @return TW_OK, also if there is no log; TW_EIO, TW_EFORMAT
 */
Status enter_logged(const std::string& path);

/// Returns the number of records of a file, including those that are logged beside it. Returns 0 if
/// there is no log.
std::int64_t logged_records(const std::string& path);

}  // namespace thalweg::detail
