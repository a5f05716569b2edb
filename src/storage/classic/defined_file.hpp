// The contents of the header of a classic file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/classic/header_reader.hpp"

namespace thalweg::detail {

struct DefinedFile {
    Definitions definitions;
    FileMap map;
    Format format = Format::cdf2;
    std::int64_t records = 0;
    std::int64_t bytes = 0;  ///< size of the file
    std::int64_t free = 0;   ///< number of unused bytes between header and data
};

/// Reads the header of a file. Local.
/// @return TW_OK, TW_EFORMAT, TW_EIO
Status read_definitions(const std::string& path, DefinedFile& file);

}  // namespace thalweg::detail
