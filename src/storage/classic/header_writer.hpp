// The header of the classic formats: its bytes, and the places of the data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "storage/storage.hpp"

namespace thalweg::detail {

/**
 * Lays a file out as nc__enddef(ncid, header_pad, 4, 0, 4) of netCDF-C does: `header_pad` free
 * bytes after the header, the fixed-size variables in their order, then the records. The header's
 * record count is 0.
 * @param path   for error texts
 * @param map    receives the places of the data
 * @param bytes  receives the header
 * @return TW_OK; TW_EFORMAT (too large for the format); TW_EARG, TW_EEXISTS (names)
 */
Status compose_header(const std::string& path, const Definitions& definitions, Format format,
                      std::int64_t header_pad, FileMap& map, std::vector<char>& bytes);

/// Composes the header for data whose places are fixed; it may be longer than the space before
/// them.
Status compose_header_for(const std::string& path, const Definitions& definitions, Format format,
                          const FileMap& map, std::vector<char>& bytes);

/// Returns the bytes of the number of records, which is at byte 4 of a header.
std::vector<char> record_count(Format format, std::int64_t records);

}  // namespace thalweg::detail
