// A writer's way to places in a netCDF-4 file for its packed chunks (see Placement): it writes them
// where it has space, and the header writer learns the places of all, for the index.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "storage/chunked/filters.hpp"
#include "storage/netcdf4/index/page.hpp"
#include "storage/netcdf4/placement/chunk_addresses.hpp"
#include "storage/netcdf4/placement/shared_placement.hpp"
#include "storage/netcdf4/placement/unplaced_chunks.hpp"
#include "storage/placement.hpp"

namespace thalweg::detail {

class ChunkPlacer final : public Placement {
public:
    /// Writes bytes at an address of the file.
    /// @param first  first of the chunks that are written, for error messages
    using Write = std::function<Status(const char* data, std::int64_t bytes, std::int64_t address,
                                       const PlacedChunk& first)>;

    /// @param seconds  the time spent in settle() is added to this
    ChunkPlacer(std::span<const ChunkGrid> grids, bool header_writer, Write write, double& seconds);

    /// Sets the address from which on chunks are placed. Called on the header writer, before
    /// share().
    void set_end(std::int64_t end) { end_ = rounded(end, UnplacedChunks::alignment); }
    /// Shares the end of the file in memory with the other writers of the header writer's node.
    /// If processes cannot share memory, those writers request space like writers of other nodes.
    /// @param beside  this writer is one of them
    /// @param all     number of them; the same on every rank
    /// @note Collective
    void share(Comm& comm, int header_writer, bool beside, int all);

    /// Keeps a chunk in memory until it has an address. If this writer allocates space itself, the
    /// waiting chunks are written as soon as they fill a write.
    Status put(const PlacedChunk& chunk, const char* data);
    /// Does what settle() does, for a caller that measures the time.
    Status write_waiting(bool& moved);
    Status write_waiting() {
        bool moved = false;
        return write_waiting(moved);
    }
    /// Registers a chunk that is in the file already.
    void know(const PlacedChunk& chunk) { addresses_.add(chunk); }
    /// Returns the address of a chunk without filters, so that its parts can be written before it
    /// is complete; -1 if it waits for one.
    /// @param is_new  false: the chunk is in the file already
    std::int64_t place(const PlacedChunk& chunk, bool& is_new);
    Status write_at(const PlacedChunk& chunk, const char* data, std::int64_t bytes,
                    std::int64_t address) {
        return write_(data, bytes, address, chunk);
    }
    /// Registers a chunk that was written at its address, after those that wait.
    Status add(PlacedChunk chunk, std::int64_t address);
    /// Overwrites a chunk in the file, if its latest version is there.
    /// @return false if it is not there, and nothing was written
    bool change(PlacedChunk chunk, const char* data, Status& status);

    Status settle(bool& moved) override;
    std::int64_t packed() const override { return packed_; }
    std::int64_t settled() const override { return settled_; }
    bool beside_header_writer() const override { return header_writer_ || shared_; }
    std::int64_t room_wanted() override { return beside_header_writer() ? 0 : unplaced_.ask(); }
    void give_room(std::int64_t at) override { unplaced_.place(at); }
    std::vector<char> take_placed() override;
    std::int64_t take_room(std::int64_t bytes) override;
    void add_placed(std::span<const char> placed) override;

    /// Takes the placed chunks for which `counts` returns true. Called on the header writer, by any
    /// thread.
    template <class Counts>
    std::vector<PlacedChunk> take_counted(Counts&& counts) {
        const std::lock_guard lock(lock_);
        if (shared_) (void)shared_->hear(placed_);
        const auto later = std::stable_partition(placed_.begin(), placed_.end(), counts);
        std::vector<PlacedChunk> taken(placed_.begin(), later);
        placed_.erase(placed_.begin(), later);
        return taken;
    }

    /// Tests if this writer has packed a chunk.
    bool has(PlacedChunk chunk) const { return addresses_.find(chunk); }
    /// Finds a chunk that this writer has packed but perhaps not yet written.
    /// @return false: it is in the file, not in memory; `chunk` receives its place
    bool find(PlacedChunk& chunk, std::vector<char>& data) const {
        if (!addresses_.find(chunk) || chunk.address >= 0) return false;
        unplaced_.read(waiting_at(chunk.address), chunk.bytes, data);
        return true;
    }

private:
    /// Converts a position in unplaced_ to the address that stands for it in addresses_, and back.
    static std::int64_t waiting_at(std::int64_t position) { return -1 - position; }
    Status write_placed(bool& moved);
    bool tell();
    void add_written(std::span<const PlacedChunk> chunks);

    bool header_writer_;
    Write write_;
    double& seconds_;
    ChunkAddresses addresses_;  ///< addresses of this writer's chunks; negative while they wait
    UnplacedChunks unplaced_;
    std::unique_ptr<SharedPlacement> shared_;
    /// Number of chunks that were packed, and number of those that were written and reported.
    std::int64_t packed_ = 0, settled_ = 0;
    /// End of the file; only on the header writer, and only without a shared memory.
    std::atomic<std::int64_t> end_ = 0;
    std::mutex lock_;  ///< guards placed_
    /// Chunks with an address. On the header writer, those that are not yet in HDF5's index; on
    /// other writers, those not yet reported to the header writer.
    std::vector<PlacedChunk> placed_;
};

}  // namespace thalweg::detail
