// The committed contents of a file, complete or not, of any writer.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "storage/classic/header_reader.hpp"

namespace thalweg::detail {

struct Committed {
    bool netcdf4 = false, has_records = false;
    std::int64_t records = 0;  ///< records that are counted and present
    std::int64_t lost = 0;     ///< records that are counted but missing
    /// Number of records of the shortest variable. In a netCDF-4 file, variables can have different
    /// numbers of records.
    std::int64_t shortest = 0;
    std::int64_t size = 0;    ///< size in bytes of the file without incomplete records at its end
    std::int64_t actual = 0;  ///< size in bytes of the file
    Format format = Format::cdf2;
};

/**
 * Inspects a file without changing it. A netCDF-4 file is only accepted if netCDF-C can open it,
 * and if all chunks in its index lie within the file.
 * @return TW_OK; TW_EFORMAT if the file cannot be read completely; TW_EINUSE if HDF5 has locked it;
 *     TW_EIO; TW_ENOMEM
 */
Status find_committed(const std::string& path, Committed& found);

/// Tests if a file has record variables but no record, counted or logged.
bool lacks_records(const std::string& path);

/// Sorts unfinished files and folders by the number of records, in a folder of files the largest of
/// any, or -1 if none can be read; then by the time of the last change.
std::vector<std::string> sorted_by_records(const std::vector<std::string>& paths);

}  // namespace thalweg::detail
