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

/// Callbacks for a rank that waits for room in its queue.
class QueueWatcher {
public:
    virtual ~QueueWatcher() = default;
    /// Does some of the work that the rank waits for; true if it did some.
    virtual bool help() { return false; }
    /// Returns the units before which no message is in transit; their memory may be freed.
    virtual std::int64_t sent() { return INT64_MAX; }
};

class UnitQueue {
public:
    /// @param agents    writers on this node, all of which must be done with a unit
    /// @param doorbell  word on which they sleep
    /// @param grows     see memory_for()
    UnitQueue(std::unique_ptr<Segment> memory, int agents, Word& doorbell, Comm& world,
              bool grows = false);

    /// Makes the memory of a rank, with its holdings for the writers.
    /// @param queue  bytes for data
    /// @param grows  bytes are allocated on first use, and may be fewer if there is not enough
    ///               memory
    /// @param spare  is used again if it is large enough, else freed; may be null
    static std::unique_ptr<Segment> memory_for(std::int64_t queue, const PackedBoxes& holdings,
                                               Status& status, bool grows = false,
                                               std::unique_ptr<Segment> spare = nullptr);
    /// Returns the memory, which no writer uses any more; ends the use of this object.
    std::unique_ptr<Segment> release() { return std::move(memory_); }
    /// Makes units wait for earlier ones if they would have more bytes together; so many bytes are
    /// allocated at once.
    void limit(std::int64_t bytes);
    std::int64_t capacity() const { return Region::of(*memory_).queue; }
    /// Returns the bytes that take() needs for so many.
    static std::int64_t rounded(std::int64_t bytes) { return (bytes + grain - 1) / grain * grain; }

    /// Takes space in the open unit; waits for writers if there is none. Null if there can be none:
    /// the open unit alone fills the memory; the system has no more memory (see no_memory()); or
    /// the ranks are in different calls (see stuck()).
    /// @param after  bytes that another take() must find before the unit is published
    char* take(std::int64_t bytes, std::int64_t after = 0);
    bool stuck() const;
    bool no_memory() const { return no_memory_; }
    /// Informs the writers that this rank enters a collective call: until all ranks have entered
    /// it, this one publishes nothing.
    void meet();
    std::int64_t position(const char* data) const { return data - Region::data(*memory_); }
    const char* base() const { return Region::data(*memory_); }
    /// Returns the bytes of the queue that are allocated.
    std::int64_t touched() const { return touched_; }

    /// Returns the place of the last space taken, for publish().
    std::int64_t mark() const { return mark_; }

    /// Publishes the open unit; errors are returned later.
    /// @param keep  mark of the first space that stays open, -1: none does
    /// @return false if stuck(); then the unit stays open
    bool publish(UnitPart& unit_part, std::int64_t keep = -1);
    std::int64_t published() const { return next_; }

    /// Waits until the writers of the node are done with all published units.
    void drain();
    /// Tests if they are.
    bool drained();
    /// After drain(): takes space from the start of the memory again, even if some is still open,
    /// which the caller must move.
    void restart() { head_ = tail_ = 0; }
    Status failure() const { return Region::of(*memory_).failure(); }
    const SegmentName& name() const { return memory_->name(); }
    Region& region() { return Region::of(*memory_); }

    void watch(QueueWatcher& watcher) { watcher_ = &watcher; }

    std::int64_t waits = 0;
    double wait_seconds = 0;
    std::int64_t most_bytes = 0;  ///< most bytes in the queue at a time
    std::int64_t unit_bytes = 0;  ///< bytes in it when units were published, added up
    /// Returns the capacity in bytes.
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
    std::deque<Unit> units_;  ///< units that are not done
    std::int64_t next_ = 0;   ///< number of the open unit
    std::int64_t head_ = 0;   ///< bytes taken in total, with those lost at the end of the memory
    std::int64_t tail_ = 0;   ///< of these, bytes that are free again
    std::int64_t mark_ = 0;
    std::int64_t taken_ = 0;    ///< bytes of the open unit
    std::int64_t largest_ = 0;  ///< bytes of the largest unit
    std::int64_t limit_ = INT64_MAX;
    bool no_memory_ = false;
    std::int64_t touched_;  ///< bytes from the start of the memory that are allocated
};

}  // namespace thalweg::detail
