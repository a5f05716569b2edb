// The contents of a Zarr store that this library has written, as its zarr.json describes them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "storage/source.hpp"
#include "storage/zarr/store/array.hpp"

namespace thalweg::detail {

struct ZarrContents {
    Definitions definitions;  ///< with the packing of further elements
    std::int64_t records = 0;
    std::vector<ZarrArray> arrays;  ///< of each variable
};

/// Tests if a path is a Zarr store that is not made of netCDF files.
bool is_zarr_store(const std::string& path);

/// Adds the sizes in bytes of all files in a folder of a store, and below it.
Status add_bytes(const std::string& folder, std::int64_t& bytes);

/// Reads the contents on one rank, and broadcasts them.
/// @return TW_OK, TW_EIO, TW_EFORMAT
/// @note Collective; the same status on every rank
Status read_contents(Comm& comm, const std::string& path, int root, ZarrContents& contents);

/// Writes zarr.json of the store, with the metadata of all arrays and the number of records.
Status write_store(const std::string& path, const ZarrContents& contents, bool durable);

/// Writes zarr.json in the folders of all arrays.
Status write_arrays(const std::string& path, const ZarrContents& contents, bool durable);

/// Syncs the file system of a store.
Status sync_store(const std::string& path);

/// Takes back what is known of shards that have only records from `records` on.
void forget_records(ZarrContents& contents, std::int64_t records);

/// Notes which shards were never written. Those that are known to have been written stay so.
/// @return TW_OK, TW_EIO
Status note_absent(const std::string& path, ZarrContents& contents);

/// Removes the shards that have only records from `records` on.
/// @return TW_OK, TW_EIO
Status remove_records(const std::string& path, const ZarrContents& contents, std::int64_t records);

/**
 * Completes a store that a killed run has left: removes what is not counted, writes zarr.json in
 * the folders of all arrays, and syncs all.
 * @param records  number of records to keep, at most those that are counted
 * @return TW_OK, TW_EIO, TW_EFORMAT
 */
Status complete_store(const std::string& path, std::int64_t records);

/// Opens a store.
/// @note Collective; the same status on every rank
std::unique_ptr<Source> open_zarr_source(Comm& comm, const std::string& path, Status& status);

}  // namespace thalweg::detail
