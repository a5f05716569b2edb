// Everything that the header of a classic file says.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/storage.hpp"

namespace thalweg::detail {

struct DefinedFile {
    Definitions definitions;  ///< as if one rank had all
    FileMap map;
    Format format = Format::cdf2;
    std::int64_t records = 0;
    std::int64_t free = 0;  ///< bytes after the header, before the data
};

/// Reads the header of a file on this rank alone, by PnetCDF. @return TW_OK, TW_EFORMAT, TW_EIO,
/// TW_ENETCDF
Status read_definitions(const std::string& path, DefinedFile& file);

}  // namespace thalweg::detail
