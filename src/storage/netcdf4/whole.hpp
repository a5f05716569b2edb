// Checks that all of a netCDF-4 file can be read, and repairs one that a killed writer has left.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/status.hpp"

namespace thalweg::detail {

/// The record dimension of a netCDF-4 file.
struct Netcdf4Records {
    bool any = false;           ///< a variable has it
    std::int64_t longest = 0;   ///< records of the longest variable
    std::int64_t shortest = 0;  ///< records of the shortest one
};

/**
 * Reads all definitions, and asks HDF5's index for the places of all data of all data sets.
 * @param end  byte of the file at which all data must end
 * @return TW_OK; TW_EFORMAT, naming the damaged part; TW_EINUSE if HDF5 has it locked; TW_EIO;
 *         TW_ENOMEM
 */
Status check_netcdf4_whole(const std::string& path, std::int64_t end, Netcdf4Records& records);

/**
 * Cuts variables with more records to so many. A reader that opens the file meanwhile, or after a
 * kill, finds its old or its new state.
 * @return TW_OK, TW_EIO, TW_EFORMAT
 */
Status cut_netcdf4(const std::string& path, std::int64_t records);

/**
 * Enters the chunks that a killed run has logged beside the file in HDF5's index.
 * @return TW_OK, also if there is no log; TW_EIO, TW_EFORMAT
 */
Status enter_logged(const std::string& path);

/// Returns the records of a file with those that are logged beside it; 0 without a log.
std::int64_t logged_records(const std::string& path);

}  // namespace thalweg::detail
