// The division of a variable into the chunks and shards of an array of a Zarr store. Every shard is
// a file, which holds a contiguous range of the variable in file order.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/chunked/chunk_grid.hpp"
#include "storage/variable_storage.hpp"
#include "storage/zarr/metadata.hpp"

namespace thalweg::detail {

struct ZarrArray {
    ChunkGrid grid;
    std::vector<StoredFilter> filters;
    std::vector<std::int64_t> per;  ///< chunks of a shard along each dimension of the grid
    /// The chunks are not filtered, and lie in file order in the variable's only shard. So the
    /// place of each element is known, and several writers can write a shard.
    bool plain = true;
    /// Ranges of shards, counted over all records, that need not exist: those that were never
    /// written, and at the end all that did not exist when it was known; null before.
    std::optional<std::vector<std::array<std::int64_t, 2>>> absent;

    /// Returns the number of chunks in a shard, including those past the variable's edges.
    std::int64_t chunks_a_shard() const { return volume(per); }
    /// Returns the unit in bytes that only one writer may write.
    std::int64_t grain() const {
        return plain ? grid.element
                     : chunks_a_shard() / grid.chunks_a_band() * grid.band * grid.element;
    }
};

/// Chooses the chunks and shards of a new variable.
/// @param sums    chunks have checksums
/// @param target  size of a chunk in bytes
/// @param share   size of a filtered shard in bytes
ZarrArray choose_array(const Variable& variable, bool sums, std::int64_t target,
                       std::int64_t share);

/// Describes an array of a number of records.
ArrayStorage describe(const ZarrArray& array, const Variable& variable, std::int64_t records);

/// A shard of a variable; identifies its file.
struct ShardKey {
    int variable = -1;
    std::int64_t record = 0;  ///< number of the shard along the record dimension
    std::int64_t number = 0;  ///< number among the shards of a record, in row-major order
    auto operator<=>(const ShardKey&) const = default;
};

/// Returns the number of shards of a record.
std::int64_t shards_a_record(const ZarrArray& array);

/// Finds the shard that holds a chunk, and the chunk's number in it (`inside`).
ShardKey shard_of(const ZarrArray& array, int variable, std::int64_t record, std::int64_t chunk,
                  std::int64_t& inside);

/// Returns the number of a shard's chunks that hold elements of the variable.
std::int64_t chunks_of(const ZarrArray& array, const ShardKey& shard);

/// Returns the path of a shard below the folder of the store.
std::string shard_path(const ZarrArray& array, const Variable& variable, const ShardKey& shard);

/// Tests if a shard is known to have been written, so that it is lost if there is no such file.
/// @param counted  it is one of a counted record, whose unfiltered shards have all been written
bool was_written(const ZarrArray& array, const ShardKey& shard, bool counted);

/// Reads the places of a shard's chunks, and the size in bytes of what lies before its index.
/// @param written  see was_written()
/// @param places   empty if there is no such file, and it was not written
/// @return TW_OK, TW_EIO, TW_EFORMAT
Status read_shard_index(const std::string& path, std::int64_t chunks, bool written,
                        std::vector<ChunkPlace>& places, std::int64_t& before);

}  // namespace thalweg::detail
