// The shared memory of a rank's queue. Blocks of it are used in a ring: in the order in which they
// are taken, and then from the start again.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "service/queue/packed_boxes.hpp"
#include "service/queue/region.hpp"

namespace thalweg::detail {

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

}  // namespace thalweg::detail
