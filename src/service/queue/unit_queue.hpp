// A rank's end of the queue: space for its puts, published unit by unit, limited in bytes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "comm/comm.hpp"
#include "service/queue/region.hpp"
#include "service/queue/unit_part.hpp"

namespace thalweg::detail {

/// Callbacks that a rank makes while it waits for room in its queue.
class QueueWatcher {
public:
    virtual ~QueueWatcher() = default;
    /// Returns the first unit of which a message is still in transit. The memory of earlier units
    /// may be reused.
    virtual std::int64_t sent() { return INT64_MAX; }
};

class UnitQueue {
public:
    /// @param agents    number of writers on this node; a unit's memory is free when all have used
    /// it
    /// @param doorbell  word on which the writers sleep
    /// @param grows     see memory_for()
    UnitQueue(std::unique_ptr<Segment> memory, int agents, Word& doorbell, Comm& world,
              bool grows = false);

    /// Makes the shared memory of a rank's queue. It contains the holdings, for the writers.
    /// @param queue  bytes for data
    /// @param grows  allocate pages on first use; if memory is short, the queue stays smaller
    /// @param spare  memory that is reused if it is large enough, and freed otherwise; may be null
    static std::unique_ptr<Segment> memory_for(std::int64_t queue, const PackedBoxes& holdings,
                                               Status& status, bool grows = false,
                                               std::unique_ptr<Segment> spare = nullptr);
    /// Returns the memory, which no writer may use any more. This object must not be used
    /// afterwards.
    std::unique_ptr<Segment> release() { return std::move(memory_); }
    /// Sets the limit of published bytes above which a new unit waits. The memory for the limit is
    /// allocated at once.
    void limit(std::int64_t bytes);
    std::int64_t capacity() const { return Region::of(*memory_).queue; }
    /// Returns the bytes that take() uses for a request of `bytes` bytes.
    static std::int64_t rounded(std::int64_t bytes) { return (bytes + grain - 1) / grain * grain; }

    /// Takes a block of memory in the open unit; waits for writers if none is free. Returns null if
    /// there can be none: the open unit alone fills the memory; the system has no more memory (see
    /// no_memory()); or the ranks are in different calls (see stuck()).
    /// @param after  bytes that must remain for another take() before the unit is published
    char* take(std::int64_t bytes, std::int64_t after = 0);
    bool stuck() const;
    bool no_memory() const { return no_memory_; }
    /// Informs the writers that this rank enters a collective call: until all ranks have entered
    /// it, this rank publishes nothing.
    void note_call();
    std::int64_t position(const char* data) const { return data - Region::data(*memory_); }
    const char* base() const { return Region::data(*memory_); }
    /// Returns the bytes of the queue that are allocated.
    std::int64_t touched() const { return touched_; }

    /// Identifies the block that was taken last, for publish().
    std::int64_t mark() const { return mark_; }

    /// Publishes the open unit; its errors are returned by later calls.
    /// @param keep  mark() of the first block that is not published and stays open; -1: none
    /// @return false if stuck(); then the unit stays open
    bool publish(UnitPart& unit_part, std::int64_t keep = -1);
    std::int64_t published() const { return next_; }
    /// Returns the number of published units that were not of boxes.
    std::int64_t published_by_all() const { return next_ - boxes_; }

    /// Waits until the writers of the node are done with all published units.
    void drain();
    /// Tests if the writers of the node are done with all published units.
    bool drained();
    /// Continues at the start of the memory. Must be called after drain(). The caller must move the
    /// data of the open unit.
    void restart() { head_ = tail_ = 0; }
    Status failure() const { return Region::of(*memory_).failure(); }
    const SegmentName& name() const { return memory_->name(); }
    Region& region() { return Region::of(*memory_); }

    void watch(QueueWatcher& watcher) { watcher_ = &watcher; }

    std::int64_t waits = 0;
    double wait_seconds = 0;
    std::int64_t most_bytes = 0;  ///< most bytes in the queue at any time
    /// Sum, over the published units, of the bytes in the queue when the unit was published.
    std::int64_t unit_bytes = 0;
    /// Returns the most bytes that the queue may hold: its capacity, or the limit if that is lower.
    std::int64_t room() const { return std::min(capacity(), limit_); }

private:
    static constexpr std::int64_t grain = 64;
    struct Unit {
        std::int64_t number, end;
    };
    std::int64_t done() const;
    void reclaim();
    void wait_for_more();
    bool touch(std::int64_t bytes);

    std::unique_ptr<Segment> memory_;
    QueueWatcher* watcher_ = nullptr;
    int agents_;
    Word& doorbell_;
    Comm& world_;
    std::deque<Unit> units_;  ///< published units that are not yet written
    std::int64_t next_ = 0;   ///< number of the open unit
    std::int64_t boxes_ = 0;  ///< published units of kind `boxes`
    /// Bytes taken in total, including those skipped at the end of the memory.
    std::int64_t head_ = 0;
    std::int64_t tail_ = 0;  ///< bytes of head_ that are free again
    std::int64_t mark_ = 0;
    std::int64_t taken_ = 0;    ///< bytes of the open unit
    std::int64_t largest_ = 0;  ///< bytes of the largest unit so far
    std::int64_t limit_ = INT64_MAX;
    bool no_memory_ = false;
    std::int64_t touched_;  ///< bytes from the start of the memory that are allocated
};

}  // namespace thalweg::detail
