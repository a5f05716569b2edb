// The header of a classic file on disk.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/storage.hpp"

namespace thalweg::detail {

/// Computes the places of the data in a new file. With `write`, creates the file and writes its
/// header. Local.
Status create_classic_header(const std::string& path, const Definitions& definitions,
                             const StorageOptions& options, bool write, FileMap& map);

/// Completes a file after its data were written: extends a file without records up to the offset
/// where its first record would begin, as netCDF does, and adds attributes. Data move only if the
/// space reserved after the header is too small. Local.
/// @param durable  sync the file, and log the new header, so that redo() can complete it after a
///     power failure; the header is not logged if data move
Status complete_classic(const std::string& path, const Definitions& definitions, const FileMap& map,
                        Format format, std::int64_t records, const LateAttributes& late,
                        bool durable);

/// Sets the record count to the number of records that are kept, and truncates the file after them;
/// Local.
/// @param durable  sync the file
Status keep_records(const std::string& path, Format format, const FileMap& map,
                    std::int64_t records, bool durable);

/// Writes the number of records into a header.
Status write_record_count(int fd, const std::string& path, Format format, std::int64_t records);

}  // namespace thalweg::detail
