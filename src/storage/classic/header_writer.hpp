// The header of the classic formats: its bytes, and where it puts the data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "storage/storage.hpp"

namespace thalweg::detail {

/**
 * Lays a file out as nc__enddef(ncid, header_pad, 4, 0, 4) of netCDF-C does: `header_pad` free
 * bytes after the header, the fixed-size variables in their order, then the records. The header
 * counts no records.
 * @param path   for the texts of failures
 * @param map    where the data lie
 * @param bytes  of the header
 * @return TW_OK; TW_EFORMAT (the format cannot hold it); TW_EARG, TW_EEXISTS (names)
 */
Status compose_header(const std::string& path, const Definitions& definitions, Format format,
                      std::int64_t header_pad, FileMap& map, std::vector<char>& bytes);

/// The same for data that lie somewhere already; the header may be longer than the place before
/// them.
Status compose_header_for(const std::string& path, const Definitions& definitions, Format format,
                          const FileMap& map, std::vector<char>& bytes);

/// The number of records as it stands at byte 4 of a header.
std::vector<char> record_count(Format format, std::int64_t records);

}  // namespace thalweg::detail
