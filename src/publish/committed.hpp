// What a file holds for good, whoever wrote it and however far.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "storage/classic/header_reader.hpp"

namespace thalweg::detail {

struct Committed {
    bool netcdf4 = false, has_records = false;
    std::int64_t records = 0;  ///< that are counted, and there
    std::int64_t lost = 0;     ///< that are counted, but are not there
    /// Records of the shortest variable: a netCDF-4 file may have others.
    std::int64_t shortest = 0;
    std::int64_t size = 0;    ///< of the file without what is not committed
    std::int64_t actual = 0;  ///< its size
    Format format = Format::cdf2;
};

/**
 * Looks at a file without changing it. Of a netCDF-4 file, netCDF-C must be able to open it, and
 * all chunks that its index names must lie within it.
 * @return TW_OK; TW_EFORMAT if it cannot be read whole; TW_EINUSE if HDF5 has it locked; TW_EIO;
 *         TW_ENOMEM
 */
Status find_committed(const std::string& path, Committed& found);

}  // namespace thalweg::detail
