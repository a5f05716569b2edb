// SPDX-License-Identifier: Apache-2.0
#include "service/queue/rank/unit_queue.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "base/clock.hpp"
#include "base/waiting.hpp"

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

namespace {

/// A scope in which the writers know that this rank waits for room.
class RoomRequest {
public:
    RoomRequest(Region& region, Futex& doorbell) : waiting_(region.waiting) {
        waiting_.store(1, std::memory_order_release);
        ring(doorbell);
    }
    ~RoomRequest() { waiting_.store(0, std::memory_order_release); }
    RoomRequest(const RoomRequest&) = delete;
    RoomRequest& operator=(const RoomRequest&) = delete;

private:
    Futex& waiting_;
};

}  // namespace

std::int64_t UnitQueue::done() const {
    std::int64_t n = sent_ ? std::min(next_, sent_()) : next_;
    const Region& region = this->region();
    for (int a = 0; a < writers_; ++a)
        n = std::min(n, whole_count(region.done[a].load(std::memory_order_acquire), next_));
    return n;
}

void UnitQueue::reclaim() {
    const std::int64_t n = done();
    while (!units_.empty() && units_.front().number < n) {
        memory_.free_until(units_.front().end);
        units_.pop_front();
    }
}

void UnitQueue::wait_for_more() {
    const Waiting waiting("the writers to make room in the queue");
    Region& region = this->region();
    const std::int64_t oldest = units_.front().number;
    for (int a = 0; a < writers_; ++a) {
        const std::uint32_t value = region.done[a].load(std::memory_order_acquire);
        if (whole_count(value, oldest) > oldest) continue;
        wait_briefly(region.done[a], value, &world_);
        return;
    }
    // The writers of this node are done; the data still have to be sent to other nodes.
    world_.progress();
    sleep_seconds(50e-6);
}

char* UnitQueue::take(std::int64_t bytes, std::int64_t after) {
    bool waited = false;
    Stopwatch watch(figures_.wait_seconds);
    for (;;) {
        reclaim();
        char* const at = memory_.take(bytes, after, units_.empty());
        if (at != nullptr) figures_.most_bytes = std::max(figures_.most_bytes, memory_.used());
        if (at != nullptr || units_.empty() || bytes > memory_.capacity()) return at;
        if (!waited) ++figures_.waits;
        waited = true;
        const RoomRequest request(region(), doorbell_);
        if (stuck()) return nullptr;
        wait_for_more();
    }
}

bool UnitQueue::stuck() const {
    const Region& region = this->region();
    return region.stuck.load(std::memory_order_acquire) ==
           region.calls.load(std::memory_order_relaxed) + 1;
}

void UnitQueue::note_call() { region().calls.fetch_add(1, std::memory_order_release); }

bool UnitQueue::publish(UnitPart& unit_part, std::int64_t keep) {
    unit_part.head.unit = next_;
    const auto descriptor = describe_unit_part(unit_part);
    char* at = take(descriptor.size());
    Region& region = this->region();
    if (at == nullptr) {
        if (stuck()) return false;
        // If memory is not short, this is a bug: every unit leaves room for its descriptor.
        region.fail(memory_.out_of_memory() ? failure(TW_ENOMEM, "no memory for the queue")
                                            : failure(TW_EINTERNAL, "no room to publish a unit"));
        return true;
    }
    std::memcpy(at, descriptor.data(), descriptor.size());
    while (!units_.empty() && next_ - units_.front().number >= Region::max_units) {
        Stopwatch watch(figures_.wait_seconds);
        const RoomRequest request(region, doorbell_);
        if (stuck()) return false;
        wait_for_more();
        reclaim();
    }
    region.unit_at[next_ % Region::max_units].store(memory_.position(at),
                                                    std::memory_order_relaxed);
    units_.push_back({next_, keep < 0 ? memory_.end() : keep});
    figures_.unit_bytes += memory_.used();
    memory_.end_unit();
    ++next_;
    if (unit_part.head.kind == UnitKind::boxes) ++boxes_;
    region.published.store(next_, std::memory_order_release);
    ring(doorbell_);
    return true;
}

bool UnitQueue::drained() {
    reclaim();
    return units_.empty();
}

void UnitQueue::drain() {
    const Waiting waiting("the writers to write what is in the queue");
    for (reclaim(); !units_.empty(); reclaim()) wait_for_more();
}

}  // namespace thalweg::detail
