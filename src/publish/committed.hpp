// The committed contents of a file, complete or not, of any writer.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "storage/classic/header_reader.hpp"

namespace thalweg::detail {

struct Committed {
    bool netcdf4 = false, has_records = false;
    std::int64_t records = 0;  ///< records that are counted and present
    std::int64_t lost = 0;     ///< records that are counted but missing
    /// Number of records of the shortest variable, which in a netCDF-4 file may differ from others.
    std::int64_t shortest = 0;
    std::int64_t size = 0;    ///< size of the file without uncommitted data
    std::int64_t actual = 0;  ///< its size
    Format format = Format::cdf2;
};

/**
 * Inspects a file without changing it. For success, netCDF-C must be able to open a netCDF-4 file,
 * and all chunks that its index names must lie within it.
 * @return TW_OK; TW_EFORMAT if it cannot be read completely; TW_EINUSE if HDF5 has it locked;
 *         TW_EIO; TW_ENOMEM
 */
Status find_committed(const std::string& path, Committed& found);

}  // namespace thalweg::detail
