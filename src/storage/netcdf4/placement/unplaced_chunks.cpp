// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/placement/unplaced_chunks.hpp"

#include <utility>

#include "storage/netcdf4/index/page.hpp"

namespace thalweg::detail {

namespace {

std::int64_t room_for(const ChunkLot& lot) {
    return rounded(lot.bytes.size(), UnplacedChunks::alignment);
}

}  // namespace

void UnplacedChunks::add(PlacedChunk chunk, const char* data) {
    const std::lock_guard lock(lock_);
    const auto full = [&](const ChunkLot& lot) {
        return lot.asked || std::ssize(lot.bytes) >= most_;
    };
    if (lots_.empty() || full(lots_.back())) {
        if (spare_.empty()) spare_.emplace_back();
        lots_.push_back(std::move(spare_.back()));
        spare_.pop_back();
    }
    ChunkLot& lot = lots_.back();
    chunk.address = lot.bytes.size();
    lot.bytes.insert(lot.bytes.end(), data, data + chunk.bytes);
    lot.chunks.push_back(chunk);
    latest_[key_of(chunk)] = {taken_ + std::ssize(lots_) - 1, lot.chunks.size() - 1};
    bytes_ += chunk.bytes;
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

bool UnplacedChunks::take(ChunkLot& lot) {
    const std::lock_guard lock(lock_);
    if (lots_.empty() || lots_.front().at < 0) return false;
    lot = std::move(lots_.front());
    lots_.pop_front();
    for (const PlacedChunk& c : lot.chunks)
        if (const auto it = latest_.find(key_of(c));
            it != latest_.end() && it->second.lot == taken_)
            latest_.erase(it);
    ++taken_;
    return true;
}

void UnplacedChunks::give_back(ChunkLot&& lot) {
    lot.bytes.clear();
    lot.chunks.clear();
    lot.at = -1;
    lot.asked = false;
    const std::lock_guard lock(lock_);
    spare_.push_back(std::move(lot));
}

bool UnplacedChunks::find(const PlacedChunk& chunk, std::vector<char>* data) const {
    const std::lock_guard lock(lock_);
    const auto it = latest_.find(key_of(chunk));
    if (it == latest_.end()) return false;
    const ChunkLot& lot = lots_[it->second.lot - taken_];
    const PlacedChunk& c = lot.chunks[it->second.at];
    const char* const from = lot.bytes.data() + c.address;
    if (data != nullptr) data->assign(from, from + c.bytes);
    return true;
}

}  // namespace thalweg::detail
