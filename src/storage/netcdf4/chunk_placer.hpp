// Where the packed chunks of a netCDF-4 file go: each writer puts its own where there is room, and
// the keeper gets to know all, for the index.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "comm/comm.hpp"
#include "storage/chunked/filters.hpp"
#include "storage/netcdf4/chunk_places.hpp"
#include "storage/netcdf4/place_board.hpp"
#include "storage/netcdf4/unplaced_chunks.hpp"
#include "storage/placement.hpp"

namespace thalweg::detail {

class ChunkPlacer {
public:
    /// Who finds room for whom.
    enum class Way {
        alone,     ///< the only writer takes what it needs, chunk by chunk
        together,  ///< the writers ask together, in write_round()
        apart      ///< each by itself, as Placement says
    };
    /// Writes bytes at an address of the file. @param first  the chunk, or the first of several
    using Write = std::function<Status(const char* data, std::int64_t bytes, std::int64_t address,
                                       const PlacedChunk& first)>;

    ChunkPlacer(std::span<const ChunkGrid> grids, Way way, bool keeper, Write write);

    Way way() const { return way_; }
    /// On the keeper: where the room for chunks begins.
    void set_end(std::int64_t end) { end_ = end; }
    std::int64_t end() const { return end_; }
    /// With way `apart`, on the keeper and those beside it.
    void use(std::unique_ptr<PlaceBoard> board) { board_ = std::move(board); }
    const PlaceBoard* board() const { return board_.get(); }
    /// Changes between `together` and `apart`, while no chunk waits.
    void set_way(Way way);

    /// Writes a chunk, or keeps it until it has a place.
    Status put(PlacedChunk chunk, const char* data);
    /// Whether there are chunks that write_round() would place.
    bool waits() const { return unplaced_.bytes() > 0; }
    /// A chunk that the file has already, at its address.
    void know(const PlacedChunk& chunk) { written_.add(chunk); }
    /// Writes a chunk that has a place again, there. @param chunk  receives the place
    Status change(PlacedChunk& chunk, const char* data, std::int64_t bytes) {
        (void)written_.find(chunk);
        return write_(data, bytes, chunk.address, chunk);
    }
    /// A chunk that was changed where it is.
    void note(const PlacedChunk& chunk) {
        const std::lock_guard lock(lock_);
        placed_.push_back(chunk);
    }
    /// All writers together: room for what waits, one range for each, in their order.
    /// @return this writer's own status @note Collective over the writers
    Status write_round(Comm& writers);
    /// What all have placed, to the keeper. @note Collective over the writers
    Status gather(Comm& writers);

    /// With way `apart`: see Placement.
    Status settle(bool& moved);
    std::int64_t packed() const { return packed_; }
    std::int64_t settled() const { return settled_; }
    std::int64_t room_wanted() { return board_ ? 0 : unplaced_.ask(); }
    void give_room(std::int64_t at) { unplaced_.place(at); }
    std::vector<char> take_placed();
    Status add_placed(std::span<const char> placed);

    /// Room at the end of the file. On the keeper, any thread.
    std::int64_t take_room(std::int64_t bytes);
    /// On the keeper: the chunks for which `counts` holds, which are forgotten here.
    template <class Counts>
    std::vector<PlacedChunk> take_counted(Counts&& counts) {
        const std::lock_guard lock(lock_);
        if (board_) (void)board_->hear(placed_);
        const auto later = std::stable_partition(placed_.begin(), placed_.end(), counts);
        std::vector<PlacedChunk> taken(placed_.begin(), later);
        placed_.erase(placed_.begin(), later);
        return taken;
    }

    /// Whether this writer has packed a chunk.
    bool has(PlacedChunk chunk) const {
        return unplaced_.find(chunk, nullptr) || written_.find(chunk);
    }
    /// A chunk that it has packed, if it is in memory. @return false: it is in the file; `chunk`
    /// receives its place
    bool find(PlacedChunk& chunk, std::vector<char>& data) const {
        if (unplaced_.find(chunk, &data)) return true;
        (void)written_.find(chunk);
        return false;
    }

private:
    Status write_placed(bool& moved);
    bool tell();

    Way way_;
    bool keeper_;
    Write write_;
    ChunkPlaces written_;  ///< by this writer
    UnplacedChunks unplaced_;
    std::unique_ptr<PlaceBoard> board_;
    std::int64_t packed_ = 0, settled_ = 0;  ///< chunks
    std::mutex lock_;                        ///< guards what follows
    std::int64_t end_ = 0;                   ///< of the file; on the keeper, unless it has a board
    /// On the keeper, not in the index yet; elsewhere, what it has to be told.
    std::vector<PlacedChunk> placed_;
};

}  // namespace thalweg::detail
