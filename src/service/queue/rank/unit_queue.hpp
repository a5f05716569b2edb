// A rank's end of the queue: space for its puts, published unit by unit, limited in bytes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>

#include "comm/comm.hpp"
#include "service/queue/packed_boxes.hpp"
#include "service/queue/region.hpp"
#include "service/queue/unit_part.hpp"
#include "telemetry/telemetry.hpp"

namespace thalweg::detail {

/// The shared memory of a rank's queue. Blocks of it are used in a ring: in the order in which they
/// are taken, and then from the start again.
class QueueMemory {
public:
    /// Makes the shared memory of a queue. It contains the holdings, for the writers.
    /// @param queue  bytes for data
    /// @param grows  allocate pages on first use; if memory is short, the queue stays smaller
    /// @param spare  memory that is reused if it is large enough, and freed otherwise; may be null
    static std::unique_ptr<Segment> make(std::int64_t queue, const PackedBoxes& holdings,
                                         Status& status, bool grows = false,
                                         std::unique_ptr<Segment> spare = nullptr);

    QueueMemory(std::unique_ptr<Segment> segment, bool grows)
        : segment_(std::move(segment)), allocated_(grows ? 0 : capacity()) {}
    /// Returns the memory, which no writer may use any more. This object must not be used
    /// afterwards.
    std::unique_ptr<Segment> release() { return std::move(segment_); }

    /// Sets the limit of bytes in use above which a new unit waits. The memory for the limit is
    /// allocated at once.
    void limit(std::int64_t bytes);
    std::int64_t capacity() const { return region().queue; }
    /// Returns the most bytes that may be in use: the capacity, or the limit if that is lower.
    std::int64_t room() const { return std::min(capacity(), limit_); }
    /// Returns the bytes that are allocated.
    std::int64_t allocated() const { return allocated_; }
    /// Returns the bytes in use.
    std::int64_t used() const { return std::min(head_ - tail_, allocated_); }
    /// Returns the bytes that take() uses for a request of `bytes` bytes.
    static std::int64_t rounded(std::int64_t bytes) { return (bytes + grain - 1) / grain * grain; }

    /// Takes a block. Returns null if none is free.
    /// @param after  bytes that must remain for another block
    /// @param alone  the memory in use belongs to the open unit, for which there is no limit
    char* take(std::int64_t bytes, std::int64_t after, bool alone);
    /// Tests if the system had no memory for a block.
    bool out_of_memory() const { return out_of_memory_; }
    /// Identifies the block that was taken last.
    std::int64_t mark() const { return mark_; }
    /// Returns the end of that block, for free_until().
    std::int64_t end() const { return head_; }
    /// Ends the open unit, to which the blocks since the last call belong.
    void end_unit() { largest_ = std::max(largest_, std::exchange(taken_, 0)); }
    /// Frees the blocks before this end or mark.
    void free_until(std::int64_t end) { tail_ = end; }
    /// Continues at the start of the memory; all blocks are free.
    void restart() { head_ = tail_ = 0; }

    std::int64_t position(const char* data) const { return data - base(); }
    char* base() const { return Region::data(*segment_); }
    const SegmentName& name() const { return segment_->name(); }
    Region& region() const { return Region::of(*segment_); }

private:
    static constexpr std::int64_t grain = 64;
    bool allocate(std::int64_t bytes);

    std::unique_ptr<Segment> segment_;
    std::int64_t allocated_;  ///< bytes from the start of the memory that are allocated
    std::int64_t limit_ = INT64_MAX;
    /// Bytes taken in total, including those skipped at the end of the memory.
    std::int64_t head_ = 0;
    std::int64_t tail_ = 0;  ///< bytes of head_ that are free again
    std::int64_t mark_ = 0;
    std::int64_t taken_ = 0;    ///< bytes of the open unit
    std::int64_t largest_ = 0;  ///< bytes of the largest unit so far
    bool out_of_memory_ = false;
};

class UnitQueue {
public:
    /// @param memory    see QueueMemory::make()
    /// @param writers    number of writers on this node; a unit's memory is free when all have used
    /// it
    /// @param doorbell  word on which the writers sleep
    /// @param grows     pages of the memory are allocated on first use
    UnitQueue(std::unique_ptr<Segment> memory, int writers, Futex& doorbell, Comm& world,
              bool grows = false)
        : memory_(std::move(memory), grows),
          writers_(writers),
          doorbell_(doorbell),
          world_(world) {}

    QueueMemory& memory() { return memory_; }
    const QueueMemory& memory() const { return memory_; }
    Region& region() const { return memory_.region(); }

    /// Takes a block of memory in the open unit; waits for writers if none is free. Returns null if
    /// there can be none: the open unit alone fills the memory; the system has no more memory (see
    /// QueueMemory::out_of_memory()); or the ranks are in different calls (see stuck()).
    /// @param after  bytes that must remain for another take() before the unit is published
    char* take(std::int64_t bytes, std::int64_t after = 0);
    bool stuck() const;
    /// Informs the writers that this rank enters a collective call: until all ranks have entered
    /// it, this rank publishes nothing.
    void note_call();

    /// Publishes the open unit; its errors are returned by later calls.
    /// @param keep  mark of the first block that is not published and stays open; -1: none
    /// @return false if stuck(); then the unit stays open
    bool publish(UnitPart& unit_part, std::int64_t keep = -1);
    std::int64_t published() const { return next_; }
    /// Returns the number of published units that were not of boxes.
    std::int64_t published_by_all() const { return next_ - boxes_; }

    /// Returns the number of units with which all writers of the node are done.
    std::int64_t done() const;
    /// Waits until the writers of the node are done with all published units.
    void drain();
    /// Tests if the writers of the node are done with all published units.
    bool drained();

    /// Sets a function that returns the first unit of which a message is still in transit. The
    /// memory of earlier units may be reused.
    void watch(std::function<std::int64_t()> sent) { sent_ = std::move(sent); }

    QueueFigures figures() const {
        QueueFigures f = figures_;
        f.room = memory_.room();
        f.units = next_;
        return f;
    }

private:
    struct Unit {
        std::int64_t number, end;
    };
    void reclaim();
    void wait_for_more();

    QueueMemory memory_;
    std::function<std::int64_t()> sent_;  ///< see watch(); may be empty
    int writers_;
    Futex& doorbell_;
    Comm& world_;
    std::deque<Unit> units_;  ///< published units that are not yet written
    std::int64_t next_ = 0;   ///< number of the open unit
    std::int64_t boxes_ = 0;  ///< published units of kind `boxes`
    QueueFigures figures_;    ///< without those that figures() adds
};

}  // namespace thalweg::detail
