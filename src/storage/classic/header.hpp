// The header of a classic file on disk.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/storage.hpp"

namespace thalweg::detail {

/// Creates a file with its header on this rank only (compose_header).
Status create_classic_header(const std::string& path, const Definitions& definitions,
                             const StorageOptions& options, FileMap& map);

/// Computes the places of the data in a new file.
Status lay_out_classic(const std::string& path, const Definitions& definitions,
                       const StorageOptions& options, FileMap& map);

/// Adds attributes to a file, on this rank only; data move only if the reserved space is too small.
/// @param durable  if data do not move, redo() completes the header after lost power
Status add_attributes(const std::string& path, const Definitions& definitions, const FileMap& map,
                      Format format, std::int64_t records,
                      const std::vector<std::pair<int, Attribute>>& late, bool durable);

/// Sets the record count to the number of records that are kept, and truncates the file after them;
/// on this rank only.
/// @param durable  sync the file
Status keep_records(const std::string& path, Format format, const FileMap& map,
                    std::int64_t records, bool durable);

/// Writes the number of records into a header.
Status write_record_count(int fd, const std::string& path, Format format, std::int64_t records);

/// Extends a file without records to its full size, as netCDF does: up to the beginning of its
/// record section.
Status extend(const std::string& path, std::int64_t size);

}  // namespace thalweg::detail
