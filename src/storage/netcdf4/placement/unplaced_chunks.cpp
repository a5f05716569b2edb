// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/placement/unplaced_chunks.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "storage/netcdf4/index/page.hpp"

namespace thalweg::detail {

namespace {

std::int64_t room_for(const ChunkLot& lot) {
    return rounded(lot.bytes.size(), UnplacedChunks::alignment);
}

}  // namespace

/// Returns the lot to which chunks are added.
ChunkLot& UnplacedChunks::last() {
    const auto full = [&](const ChunkLot& lot) {
        return lot.asked || std::ssize(lot.bytes) >= most_;
    };
    if (lots_.empty() || full(lots_.back())) {
        if (spare_.empty()) spare_.emplace_back();
        lots_.push_back(std::move(spare_.back()));
        spare_.pop_back();
        lots_.back().begin = added_;
    }
    return lots_.back();
}

bool UnplacedChunks::follow(const PlacedChunk& chunk) {
    const std::lock_guard lock(lock_);
    if (lots_.empty()) return false;
    last().chunks.push_back(chunk);
    return true;
}

std::int64_t UnplacedChunks::add(PlacedChunk chunk, const char* data) {
    const std::lock_guard lock(lock_);
    ChunkLot& lot = last();
    chunk.address = lot.bytes.size();
    lot.bytes.insert(lot.bytes.end(), data, data + chunk.bytes);
    lot.chunks.push_back(chunk);
    bytes_ += chunk.bytes;
    added_ += chunk.bytes;
    return added_ - chunk.bytes;
}

std::int64_t UnplacedChunks::bytes() const {
    const std::lock_guard lock(lock_);
    return bytes_;
}

std::int64_t UnplacedChunks::ask() {
    const std::lock_guard lock(lock_);
    std::int64_t sum = 0;
    for (ChunkLot& lot : lots_) {
        if (lot.asked) continue;
        lot.asked = true;
        sum += room_for(lot);
    }
    bytes_ = 0;
    return sum;
}

void UnplacedChunks::place(std::int64_t at) {
    const std::lock_guard lock(lock_);
    for (ChunkLot& lot : lots_) {
        if (!lot.asked || lot.at >= 0) continue;
        lot.at = at;
        at += room_for(lot);
    }
}

ChunkLot* UnplacedChunks::first() {
    const std::lock_guard lock(lock_);
    return lots_.empty() || lots_.front().at < 0 ? nullptr : &lots_.front();
}

void UnplacedChunks::drop_first() {
    const std::lock_guard lock(lock_);
    ChunkLot& lot = spare_.emplace_back(std::move(lots_.front()));
    lots_.pop_front();
    lot.bytes.clear();
    lot.chunks.clear();
    lot.at = -1;
    lot.asked = false;
}

void UnplacedChunks::read(std::int64_t position, std::int64_t bytes,
                          std::vector<char>& data) const {
    const std::lock_guard lock(lock_);
    const auto after =
        std::upper_bound(lots_.begin(), lots_.end(), position,
                         [](std::int64_t at, const ChunkLot& lot) { return at < lot.begin; });
    const ChunkLot& lot = *std::prev(after);
    const char* const from = lot.bytes.data() + (position - lot.begin);
    data.assign(from, from + bytes);
}

}  // namespace thalweg::detail
