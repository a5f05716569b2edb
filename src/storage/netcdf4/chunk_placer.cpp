// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/chunk_placer.hpp"

#include <algorithm>
#include <climits>
#include <cstring>

#include "storage/netcdf4/page.hpp"

namespace thalweg::detail {

namespace {

constexpr std::int64_t lot_bytes = 4 << 20;  ///< of writers that are apart: about a write

std::int64_t lot_limit(ChunkPlacer::Way way) {
    return way == ChunkPlacer::Way::apart ? lot_bytes : INT64_MAX;
}

}  // namespace

ChunkPlacer::ChunkPlacer(std::span<const ChunkGrid> grids, Way way, bool keeper, Write write)
    : way_(way),
      keeper_(keeper),
      write_(std::move(write)),
      written_(grids),
      unplaced_(lot_limit(way)) {}

void ChunkPlacer::set_way(Way way) {
    way_ = way;
    unplaced_.limit(lot_limit(way));
    if (way == Way::apart) return;
    if (board_) end_ = board_->end();
    board_.reset();
}

std::int64_t ChunkPlacer::take_room(std::int64_t bytes) {
    if (board_) return board_->take_room(rounded(bytes, UnplacedChunks::alignment));
    const std::lock_guard lock(lock_);
    const std::int64_t at = rounded(end_, UnplacedChunks::alignment);
    end_ = at + bytes;
    return at;
}

Status ChunkPlacer::put(PlacedChunk chunk, const char* data) {
    if (way_ != Way::alone) {
        unplaced_.add(chunk, data);
        ++packed_;
        bool moved = false;
        const bool enough = way_ == Way::apart && unplaced_.bytes() >= lot_bytes;
        return enough ? settle(moved) : Status{};
    }
    chunk.address = take_room(chunk.bytes);
    if (Status status = write_(data, chunk.bytes, chunk.address, chunk); !status.ok())
        return status;
    written_.add(chunk);
    const std::lock_guard lock(lock_);
    placed_.push_back(chunk);
    return {};
}

/// What has a place.
Status ChunkPlacer::write_placed(bool& moved) {
    for (ChunkLot lot; unplaced_.take(lot); unplaced_.give_back(std::move(lot))) {
        moved = true;
        const std::int64_t bytes = lot.bytes.size();
        Status status = write_(lot.bytes.data(), bytes, lot.at, lot.chunks.front());
        if (!status.ok()) return status;
        for (PlacedChunk& c : lot.chunks) {
            c.address += lot.at;
            written_.add(c);
        }
        const std::lock_guard lock(lock_);
        placed_.insert(placed_.end(), lot.chunks.begin(), lot.chunks.end());
        if (keeper_ || !board_) settled_ += lot.chunks.size();
    }
    return {};
}

Status ChunkPlacer::write_round(Comm& writers) {
    const std::int64_t mine = unplaced_.ask();
    std::int64_t words[] = {mine, keeper_ ? rounded(end_, UnplacedChunks::alignment) : 0};
    const std::int64_t before = writers.sum_before(mine);
    writers.all_reduce(words, Reduce::sum);
    if (keeper_) end_ = words[1] + words[0];
    unplaced_.place(words[1] + before);
    // The others go on, whatever this rank has no memory for.
    return alone([&] {
        bool moved = false;
        return write_placed(moved);
    });
}

Status ChunkPlacer::gather(Comm& writers) {
    const auto* bytes = reinterpret_cast<const char*>(placed_.data());
    std::vector<std::vector<char>> all;
    Status status = together([&]() -> Status {
        all = writers.gather({bytes, placed_.size() * sizeof(PlacedChunk)}, 0);
        return {};
    });
    if (!status.ok()) return status;
    placed_.clear();
    return alone([&]() -> Status {
        for (const auto& row : all)
            if (Status s = add_placed(row); !s.ok()) return s;
        return {};
    });
}

Status ChunkPlacer::settle(bool& moved) {
    if (board_)
        if (const std::int64_t bytes = unplaced_.ask(); bytes > 0)
            unplaced_.place(board_->take_room(bytes));
    Status status = write_placed(moved);
    if (status.ok() && board_ && tell()) moved = true;
    return status;
}

/// To the keeper; or what it is told by the others.
bool ChunkPlacer::tell() {
    const std::lock_guard lock(lock_);
    if (keeper_) return board_->hear(placed_);
    const std::size_t n = board_->tell(placed_);
    placed_.erase(placed_.begin(), placed_.begin() + n);
    settled_ += n;
    return n > 0;
}

std::vector<char> ChunkPlacer::take_placed() {
    const std::lock_guard lock(lock_);
    if (keeper_ || board_) return {};
    const auto* const bytes = reinterpret_cast<const char*>(placed_.data());
    std::vector<char> taken(bytes, bytes + placed_.size() * sizeof(PlacedChunk));
    placed_.clear();
    return taken;
}

Status ChunkPlacer::add_placed(std::span<const char> placed) {
    const std::lock_guard lock(lock_);
    const std::size_t had = placed_.size();
    placed_.resize(had + placed.size() / sizeof(PlacedChunk));
    if (!placed.empty()) std::memcpy(placed_.data() + had, placed.data(), placed.size());
    return {};
}

}  // namespace thalweg::detail
