// HDF5's index of a file that is written, on the header writer. A writer counts records in any
// thread; a call of the model enters their chunks, as no thread of the library calls HDF5.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "storage/netcdf4/chunks/layout.hpp"
#include "storage/netcdf4/index/index.hpp"
#include "storage/netcdf4/index/place_log.hpp"

namespace thalweg::detail {

/// The index of one file. All functions except count() are called by the model's thread.
class HeaderWriterIndex {
public:
    /// The arguments must outlive this object.
    /// @param later    chunks are not entered when they are counted but by a later call of enter()
    /// @param durable  each change of the index is synced, as a power failure could otherwise
    ///                 damage records that were counted before
    HeaderWriterIndex(const std::string& path, const Definitions& definitions,
                      const Netcdf4Layout& layout, ChunkPlacer& placer, ChunkStore& store,
                      bool later, bool durable)
        : path_(path),
          definitions_(definitions),
          layout_(layout),
          placer_(placer),
          store_(store),
          later_(later),
          always_(durable) {}

    /// Opens the index of a file that was just created.
    Status open_new();
    /// Opens the index of an existing file, and drops all records but the first `kept`.
    /// @param unwritten  variables that give_places() has given addresses
    /// @param size       end of the data of these variables
    /// @param chunks     receives the chunks that the file contains
    Status open_existing(std::int64_t kept, const std::vector<int>& unwritten, std::int64_t size,
                         std::vector<PlacedChunk>& chunks);
    /// Counts records and takes their chunks. If the chunks are to be entered later, logs them
    /// beside the file. Called by any thread.
    /// @param all  count also records whose chunks were written before they were complete
    void count(std::int64_t records, bool durable, bool all);
    /// Enters the counted chunks in the index. After a failure the index is incomplete and is
    /// closed.
    Status enter();
    /// Counts and enters the last records, changes attributes, and closes the index.
    Status close(std::int64_t records, const LateAttributes& late);

private:
    /// Counted records whose chunks were not entered yet.
    struct Counted {
        std::int64_t records = 0;
        bool durable = false;
        std::vector<PlacedChunk> chunks;
    };
    Status open(NextRoom next_room);
    Room room_at_end(std::int64_t bytes);
    Status find_chunks(int variable, std::vector<PlacedChunk>& chunks);
    Status drop_records();
    Status enter_counted(const Counted& counted);

    const std::string& path_;
    const Definitions& definitions_;
    const Netcdf4Layout& layout_;
    ChunkPlacer& placer_;
    ChunkStore& store_;
    const bool later_, always_;
    const std::thread::id model_thread_ = std::this_thread::get_id();
    std::unique_ptr<Netcdf4Index> index_;  ///< null after a failure
    std::int64_t kept_ = 0;                ///< number of records that an existing file keeps
    std::mutex mutex_;                     ///< guards the members below
    /// Log of the chunks; exists once records were counted whose chunks are entered later.
    std::optional<PlaceLog> log_;
    std::optional<Counted> counted_;
    std::int64_t shown_ = 0;  ///< number of records in the file
    std::int64_t known_ = 0;  ///< number of records whose chunks were taken from the writers
};

}  // namespace thalweg::detail
