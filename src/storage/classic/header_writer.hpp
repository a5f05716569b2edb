// The header of the classic formats: its bytes, and the places of the data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "storage/storage.hpp"

namespace thalweg::detail {

/**
 * Lays a file out as nc__enddef of netCDF-C does: the header, the fixed-size variables in their
 * order, then the records. The header's record count is 0.
 * @param path   for error texts
 * @param map    receives the offsets of the data
 * @param bytes  receives the header
 * @return TW_OK; TW_EFORMAT (too large for the format); TW_EUNSUPPORTED (names)
 */
Status compose_header(const std::string& path, const Definitions& definitions, Format format,
                      const HeaderPadding& spacing, FileMap& map, std::vector<char>& bytes);

/// Composes the header of a file whose data offsets must not change. The header may become longer
/// than the space before the data.
Status compose_header_for(const std::string& path, const Definitions& definitions, Format format,
                          const FileMap& map, std::vector<char>& bytes);

/// Returns the number of records in the form in which a header contains it at byte 4.
std::vector<char> record_count(Format format, std::int64_t records);

}  // namespace thalweg::detail
