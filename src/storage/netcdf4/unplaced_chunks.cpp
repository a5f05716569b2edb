// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/unplaced_chunks.hpp"

#include <tuple>
#include <utility>

#include "storage/netcdf4/page.hpp"

namespace thalweg::detail {

namespace {

std::int64_t room_for(const ChunkLot& lot) {
    return rounded(lot.bytes.size(), UnplacedChunks::alignment);
}

}  // namespace

void UnplacedChunks::add(PlacedChunk chunk, const char* data) {
    const std::lock_guard lock(lock_);
    const auto full = [&](const ChunkLot& lot) {
        return lot.asked || static_cast<std::int64_t>(lot.bytes.size()) >= most_;
    };
    if (lots_.empty() || full(lots_.back())) lots_.push_back(std::exchange(spare_, {}));
    ChunkLot& lot = lots_.back();
    chunk.address = lot.bytes.size();
    lot.bytes.insert(lot.bytes.end(), data, data + chunk.bytes);
    lot.chunks.push_back(chunk);
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
    return true;
}

void UnplacedChunks::give_back(ChunkLot&& lot) {
    lot.bytes.clear();
    lot.chunks.clear();
    lot.at = -1;
    lot.asked = false;
    const std::lock_guard lock(lock_);
    spare_ = std::move(lot);
}

bool UnplacedChunks::find(const PlacedChunk& chunk, std::vector<char>* data) const {
    const auto same = [&](const PlacedChunk& other) {
        return std::tie(other.variable, other.record, other.number) ==
               std::tie(chunk.variable, chunk.record, chunk.number);
    };
    const std::lock_guard lock(lock_);
    for (auto lot = lots_.rbegin(); lot != lots_.rend(); ++lot)
        for (auto c = lot->chunks.rbegin(); c != lot->chunks.rend(); ++c) {
            if (!same(*c)) continue;
            const char* const from = lot->bytes.data() + c->address;
            if (data != nullptr) data->assign(from, from + c->bytes);
            return true;
        }
    return false;
}

}  // namespace thalweg::detail
