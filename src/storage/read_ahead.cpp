// SPDX-License-Identifier: Apache-2.0
#include "storage/read_ahead.hpp"

#include <algorithm>
#include <iterator>

#include "base/system/thread.hpp"
#include "base/waiting.hpp"

namespace thalweg::detail {

namespace {

/// Pieces begin at multiples of this number of bytes, the size of a cache line.
constexpr std::int64_t line = 64;

bool same_variables(std::span<const PlaceSource> a, std::span<const PlaceSource> b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const PlaceSource& x, const PlaceSource& y) {
                          return x.variable == y.variable && x.part == y.part;
                      });
}

bool same_piece(std::span<const ReadRange> a, const char* base_a, std::span<const ReadRange> b,
                const char* base_b) {
    return std::equal(
        a.begin(), a.end(), b.begin(), b.end(), [&](const ReadRange& x, const ReadRange& y) {
            return x.variable == y.variable && x.record == y.record && *x.part == *y.part &&
                   x.first == y.first && x.elements == y.elements && x.to - base_a == y.to - base_b;
        });
}

}  // namespace

ReadAhead::ReadAhead(RangeReader& source, char* memory, std::int64_t bytes)
    : source_(source), memory_(memory), blocks_{{0, bytes / line * line, false}} {}

ReadAhead::~ReadAhead() {
    if (!thread_.joinable()) return;
    {
        const std::lock_guard lock(lock_);
        stops_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

Status ReadAhead::start() {
    return start_thread(
        thread_, [this] { run(); }, "reads ahead");
}

void ReadAhead::run() {
    std::unique_lock lock(lock_);
    for (;;) {
        Piece* piece = nullptr;
        changed_.wait(lock, [&] {
            piece = paused_ ? nullptr : next();
            return stops_ || piece != nullptr;
        });
        if (stops_) return;
        piece->state = Piece::reading;
        reading_ = true;
        lock.unlock();
        const bool read = catch_errors([&] { return source_.read(piece->ranges); }).ok();
        lock.lock();
        piece->state = read ? Piece::ready : Piece::failed;
        reading_ = false;
        changed_.notify_all();
    }
}

ReadAhead::Piece* ReadAhead::next() {
    const auto waiting = [](Batch& batch) -> Piece* {
        for (Piece& piece : batch.pieces)
            if (piece.state == Piece::waiting) return &piece;
        return nullptr;
    };
    Piece* first = nullptr;
    for (Batch& batch : batches_) {
        Piece* const piece = waiting(batch);
        if (piece != nullptr && &batch == wanted_) return piece;
        if (first == nullptr) first = piece;
    }
    return first;
}

void ReadAhead::pause() {
    const Waiting system(the_file_system);
    std::unique_lock lock(lock_);
    paused_ = true;
    changed_.wait(lock, [&] { return !reading_; });
}

void ReadAhead::resume() {
    {
        const std::lock_guard lock(lock_);
        paused_ = false;
    }
    changed_.notify_all();
}

void ReadAhead::read_again() {
    for (Batch& batch : batches_)
        for (Piece& piece : batch.pieces) {
            if (piece.state == Piece::failed) continue;
            if (piece.state == Piece::ready) counts_.unused += piece.block->bytes;
            piece.state = source_.prepare(piece.ranges) ? Piece::waiting : Piece::failed;
        }
}

std::int64_t ReadAhead::expect(const std::vector<PlaceSource>& sources, bool asked, bool spare) {
    const std::lock_guard lock(lock_);
    auto batch = std::find_if(batches_.begin(), batches_.end(),
                              [&](const Batch& b) { return b.sources == sources; });
    if (batch == batches_.end()) {
        batch = batches_.emplace(batches_.end());
        batch->sources = sources;
        batch->spare = spare;
    }
    batch->asked |= asked;
    batch->spare &= spare;
    open_ = &*batch;
    return batch->added;
}

bool ReadAhead::add(std::int64_t bytes,
                    const std::function<std::vector<ReadRange>(char*)>& ranges) {
    const auto room = take_room(bytes);
    if (room == blocks_.end()) return false;
    std::list<Piece> piece;
    piece.push_back({room, ranges(memory_ + room->at), Piece::waiting});
    const bool ready = source_.prepare(piece.front().ranges);
    {
        const std::lock_guard lock(lock_);
        if (ready)
            open_->pieces.splice(open_->pieces.end(), piece);
        else
            free(room);
        ++open_->added;
    }
    changed_.notify_all();
    return true;
}

/// Takes a block of at least `bytes` bytes. Drops spare batches if there is no space. Returns the
/// end of the list if that does not help.
std::list<ReadAhead::Block>::iterator ReadAhead::take_room(std::int64_t bytes) {
    const std::int64_t needed = (bytes + line - 1) / line * line;
    std::unique_lock lock(lock_);
    auto room = find_room(needed);
    while (room == blocks_.end()) {
        const auto spare = std::find_if(batches_.begin(), batches_.end(), [&](const Batch& batch) {
            return batch.spare && &batch != open_;
        });
        if (spare == batches_.end()) return room;
        drop(spare, lock);
        room = find_room(needed);
    }
    if (room->bytes > needed)
        blocks_.insert(std::next(room), {room->at + needed, room->bytes - needed, false});
    room->bytes = needed;
    room->used = true;
    return room;
}

/// Finds the first free block that is large enough. Taking the first one reuses memory that was
/// touched before.
std::list<ReadAhead::Block>::iterator ReadAhead::find_room(std::int64_t bytes) {
    return std::find_if(blocks_.begin(), blocks_.end(),
                        [&](const Block& block) { return !block.used && block.bytes >= bytes; });
}

void ReadAhead::free(std::list<Block>::iterator block) noexcept {
    block->used = false;
    if (const auto after = std::next(block); after != blocks_.end() && !after->used) {
        block->bytes += after->bytes;
        blocks_.erase(after);
    }
    if (block == blocks_.begin()) return;
    if (const auto before = std::prev(block); !before->used) {
        before->bytes += block->bytes;
        blocks_.erase(block);
    }
}

/// Drops a batch. If a piece of it is being read, waits until that is done.
void ReadAhead::drop(std::list<Batch>::iterator batch, std::unique_lock<std::mutex>& lock) {
    for (Piece& piece : batch->pieces)
        if (piece.state == Piece::waiting) piece.state = Piece::failed;
    changed_.wait(lock, [&] {
        return std::none_of(batch->pieces.begin(), batch->pieces.end(),
                            [](const Piece& piece) { return piece.state == Piece::reading; });
    });
    for (const Piece& piece : batch->pieces) {
        if (piece.state == Piece::ready) counts_.unused += piece.block->bytes;
        free(piece.block);
    }
    if (open_ == &*batch) open_ = nullptr;
    batches_.erase(batch);
}

void ReadAhead::release() {
    const std::lock_guard lock(lock_);
    for (const Piece& piece : taken_) free(piece.block);
    taken_.clear();
}

void ReadAhead::forget(const std::vector<PlaceSource>& read,
                       std::span<const std::vector<PlaceSource>> but) {
    std::unique_lock lock(lock_);
    for (auto batch = batches_.begin(); batch != batches_.end();) {
        const auto here = batch++;
        const bool was_read = here->sources == read;
        if (!was_read && (here->asked || !same_variables(here->sources, read) ||
                          std::find(but.begin(), but.end(), here->sources) != but.end()))
            continue;
        if (was_read)
            for (auto before = batches_.begin(); before != here; ++before) before->spare = true;
        drop(here, lock);
    }
}

bool ReadAhead::expects_others(const std::vector<PlaceSource>& sources) const {
    const std::lock_guard lock(lock_);
    return std::any_of(batches_.begin(), batches_.end(),
                       [&](const Batch& batch) { return !same_variables(batch.sources, sources); });
}

std::int64_t ReadAhead::take(std::span<const ReadRange> ranges, const char* base, bool wait) {
    const Waiting system(the_file_system);
    std::unique_lock lock(lock_);
    for (Batch& batch : batches_) {
        const auto found = std::find_if(batch.pieces.begin(), batch.pieces.end(), [&](Piece& p) {
            return same_piece(p.ranges, memory_ + p.block->at, ranges, base);
        });
        if (found == batch.pieces.end()) continue;
        if (wait && (found->state == Piece::waiting || found->state == Piece::reading)) {
            wanted_ = &batch;
            changed_.wait(lock, [&] {
                return found->state == Piece::ready || found->state == Piece::failed;
            });
            wanted_ = nullptr;
        }
        if (found->state != Piece::ready) return -1;
        counts_.taken += found->block->bytes;
        taken_.splice(taken_.end(), batch.pieces, found);
        return found->block->at;
    }
    return -1;
}

}  // namespace thalweg::detail
