// SPDX-License-Identifier: Apache-2.0
#include "service/queue/rank/queue_memory.hpp"

#include <cstring>
#include <new>
#include <utility>

namespace thalweg::detail {

std::unique_ptr<Segment> QueueMemory::make(std::int64_t queue, const PackedBoxes& holdings,
                                           Status& status, bool grows,
                                           std::unique_ptr<Segment> spare) try {
    constexpr std::int64_t least = 4 << 20;
    const std::vector<std::int64_t> held = holdings.words();
    queue = rounded(queue);
    const auto needed = [&] { return Region::data_at + queue + 8 * held.size(); };
    std::unique_ptr<Segment> memory;
    if (spare && spare->size() >= needed() && (grows || spare->touch(Region::data_at, queue))) {
        memory = std::move(spare);
        std::memset(memory->data(), 0, Region::data_at);
    }
    spare.reset();
    for (; !memory; queue = rounded(queue / 2)) {
        Status made;
        memory = Segment::make(needed(), !grows, made);
        if (memory) break;
        // The limit on the size of files also applies to shared memory, which is a file.
        if (grows && queue > least) continue;
        status = made;
        return nullptr;
    }
    Region::of(*memory).queue = queue;
    std::copy(held.begin(), held.end(), Region::holdings(*memory));
    return memory;
} catch (const std::bad_alloc&) {
    status = failure(TW_ENOMEM, "no memory to tell the writers what this rank holds");
    return nullptr;
}

void QueueMemory::limit(std::int64_t bytes) {
    limit_ = bytes;
    if (bytes < INT64_MAX) (void)allocate(room());
}

/// Tests if the first `bytes` bytes of the memory are allocated, or can be.
bool QueueMemory::allocate(std::int64_t bytes) {
    if (bytes <= allocated_) return true;
    constexpr std::int64_t step = 1 << 20;
    const std::int64_t end = std::min(capacity(), (bytes + step - 1) / step * step);
    if (!segment_->touch(Region::data_at + allocated_, end - allocated_)) return false;
    allocated_ = end;
    return true;
}

char* QueueMemory::take(std::int64_t bytes, std::int64_t after, bool alone) {
    bytes = std::max(rounded(bytes), grain);
    after = rounded(after);
    const std::int64_t size = capacity();
    if (bytes > size) return nullptr;
    // Returns the first position from `begin` on at which `length` bytes are contiguous in the
    // ring.
    const auto in_lap = [&](std::int64_t begin, std::int64_t length) {
        const std::int64_t at = begin % size;
        return at + length > size ? begin - at + size : begin;
    };
    if (tail_ == head_) restart();
    std::int64_t begin = head_;
    const std::int64_t at = begin % size, next_lap = begin - at + size;
    // Reuse free memory before allocating more, if it has room for two units: a rank that has
    // returned to the start of the ring must wait for the units after it.
    const std::int64_t wanted = std::max(bytes, 2 * largest_);
    if (at + bytes > size || (at + bytes > allocated_ && next_lap + wanted - tail_ <= size))
        begin = next_lap;
    const bool within = alone || begin + bytes - tail_ <= limit_;
    if (!within || in_lap(begin + bytes, after) + after - tail_ > size) return nullptr;
    if (!allocate(begin % size + bytes)) {
        out_of_memory_ |= alone;  // otherwise, memory in use will be free
        return nullptr;
    }
    head_ = begin + bytes;
    mark_ = begin;
    taken_ += bytes;
    return base() + begin % size;
}

}  // namespace thalweg::detail
