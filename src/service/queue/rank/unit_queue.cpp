// SPDX-License-Identifier: Apache-2.0
#include "service/queue/rank/unit_queue.hpp"

#include <algorithm>
#include <cstring>

#include "base/clock.hpp"
#include "base/waiting.hpp"

namespace thalweg::detail {

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
    Stopwatch watch(wait_seconds);
    for (;;) {
        reclaim();
        char* const at = memory_.take(bytes, after, units_.empty());
        if (at != nullptr) most_bytes = std::max(most_bytes, memory_.used());
        if (at != nullptr || units_.empty() || bytes > memory_.capacity()) return at;
        if (!waited) ++waits;
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
        Stopwatch watch(wait_seconds);
        const RoomRequest request(region, doorbell_);
        if (stuck()) return false;
        wait_for_more();
        reclaim();
    }
    region.unit_at[next_ % Region::max_units].store(memory_.position(at),
                                                    std::memory_order_relaxed);
    units_.push_back({next_, keep < 0 ? memory_.end() : keep});
    unit_bytes += memory_.used();
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
