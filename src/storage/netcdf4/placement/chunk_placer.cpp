// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/placement/chunk_placer.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/clock.hpp"

namespace thalweg::detail {

namespace {

constexpr std::int64_t lot_bytes = 4 << 20;  ///< target size in bytes of one write

}  // namespace

ChunkPlacer::ChunkPlacer(std::span<const ChunkGrid> grids, bool header_writer, Write write,
                         double& seconds)
    : header_writer_(header_writer),
      write_(std::move(write)),
      seconds_(seconds),
      addresses_(grids),
      unplaced_(lot_bytes) {}

void ChunkPlacer::share(Comm& comm, int header_writer, bool beside, int all) {
    if (all == 0) return;
    Status status;
    SegmentName name;
    if (header_writer_) shared_ = SharedPlacement::make(all, end_, status);
    if (shared_) name = shared_->name();
    comm.broadcast(&name, sizeof name, header_writer);
    beside = beside && !header_writer_ && name.bytes > 0;
    const int number = static_cast<int>(comm.sum_before(beside ? 1 : 0));
    if (beside) shared_ = SharedPlacement::map(name, number, status);
}

std::int64_t ChunkPlacer::take_room(std::int64_t bytes) {
    return (shared_ ? shared_->end() : end_)
        .fetch_add(rounded(bytes, UnplacedChunks::alignment), std::memory_order_relaxed);
}

std::int64_t ChunkPlacer::place(const PlacedChunk& chunk, bool& is_new) {
    if (!beside_header_writer()) return -1;
    PlacedChunk known = chunk;
    is_new = !addresses_.find(known);
    if (!is_new) return known.address;
    // Writes from the beginning of a page are faster. In small chunks the space would be too much.
    constexpr std::int64_t large = 1 << 20;
    const std::int64_t unit = chunk.bytes < large ? UnplacedChunks::alignment : page;
    return rounded(take_room(chunk.bytes + unit - UnplacedChunks::alignment), unit);
}

Status ChunkPlacer::add(PlacedChunk chunk, std::int64_t address) {
    chunk.address = address;
    if (PlacedChunk known = chunk; addresses_.find(known) && known.address == address)
        chunk.bytes = 0;
    else
        addresses_.add(chunk);
    ++packed_;
    // The counts of settled chunks tell which steps are in the file, so no chunk may overtake those
    // that wait for room.
    PlacedChunk waiting = chunk;
    waiting.address = waiting_at(address);
    if (!unplaced_.follow(waiting)) add_written({&chunk, 1});
    return {};
}

Status ChunkPlacer::put(const PlacedChunk& chunk, const char* data) {
    if (beside_header_writer() && chunk.bytes >= lot_bytes) {
        // A chunk that fills a write needs no copy.
        const std::int64_t address = take_room(chunk.bytes);
        Status status = write_(data, chunk.bytes, address, chunk);
        return status.ok() ? add(chunk, address) : status;
    }
    PlacedChunk waiting = chunk;
    waiting.address = waiting_at(unplaced_.add(chunk, data));
    addresses_.add(waiting);
    ++packed_;
    return beside_header_writer() && unplaced_.bytes() >= lot_bytes ? write_waiting() : Status{};
}

bool ChunkPlacer::change(PlacedChunk chunk, const char* data, Status& status) {
    if (!addresses_.find(chunk) || chunk.address < 0) return false;
    if (!beside_header_writer() && settled_ < packed_) return false;
    status = write_(data, chunk.bytes, chunk.address, chunk);
    if (status.ok()) status = add(chunk, chunk.address);
    return true;
}

Status ChunkPlacer::settle(bool& moved) {
    const double begin = now();
    bool any = false;
    Status status = write_waiting(any);
    moved |= any;
    // Update the time only if something was written, as other threads may read it concurrently.
    if (any) seconds_ += now() - begin;
    return status;
}

Status ChunkPlacer::write_waiting(bool& moved) {
    if (beside_header_writer()) unplaced_.place(take_room(unplaced_.ask()));
    Status status = write_placed(moved);
    if (status.ok() && shared_ && tell()) moved = true;
    return status;
}

/// Writes the waiting chunks that have an address.
/// @param moved  becomes true if a chunk was written
Status ChunkPlacer::write_placed(bool& moved) {
    for (ChunkLot* first; (first = unplaced_.first()) != nullptr; unplaced_.drop_first()) {
        moved = true;
        ChunkLot& lot = *first;
        const std::int64_t bytes = lot.bytes.size();
        if (bytes > 0)
            if (Status s = write_(lot.bytes.data(), bytes, lot.at, lot.chunks.front()); !s.ok())
                return s;
        for (PlacedChunk& c : lot.chunks) {
            if (c.address < 0) {  // it was written at its address
                c.address = waiting_at(c.address);
                continue;
            }
            PlacedChunk latest = c;
            const bool is_latest =
                addresses_.find(latest) && latest.address == waiting_at(lot.begin + c.address);
            c.address += lot.at;
            if (is_latest) addresses_.add(c);
        }
        add_written(lot.chunks);
    }
    return {};
}

void ChunkPlacer::add_written(std::span<const PlacedChunk> chunks) {
    const std::lock_guard lock(lock_);
    placed_.insert(placed_.end(), chunks.begin(), chunks.end());
    if (header_writer_ || !shared_) settled_ += std::ssize(chunks);
}

/// Reports written chunks to the header writer through the shared memory. On the header writer,
/// collects the reports of the other writers.
/// @return true if there were any reports
bool ChunkPlacer::tell() {
    const std::lock_guard lock(lock_);
    if (header_writer_) return shared_->hear(placed_);
    const std::size_t n = shared_->tell(placed_);
    settled_ += n;
    placed_.erase(placed_.begin(), placed_.begin() + n);
    return n > 0;
}

/// Returns the chunks as bytes without their number, because such lists are joined on the way to
/// the header writer.
std::vector<char> ChunkPlacer::take_placed() {
    const std::lock_guard lock(lock_);
    if (beside_header_writer()) return {};
    const auto* const bytes = reinterpret_cast<const char*>(placed_.data());
    std::vector<char> taken(bytes, bytes + placed_.size() * sizeof(PlacedChunk));
    placed_.clear();
    return taken;
}

void ChunkPlacer::add_placed(std::span<const char> placed) {
    const std::lock_guard lock(lock_);
    const std::size_t had = placed_.size();
    placed_.resize(had + placed.size() / sizeof(PlacedChunk));
    if (!placed.empty()) std::memcpy(placed_.data() + had, placed.data(), placed.size());
}

}  // namespace thalweg::detail
