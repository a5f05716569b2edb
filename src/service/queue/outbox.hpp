// A rank's end of the queue: space for what it puts, published unit by unit, bounded in bytes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "comm/comm.hpp"
#include "service/queue/parcel.hpp"
#include "service/queue/region.hpp"

namespace thalweg::detail {

/// Whose queue it is, asked while a rank waits for room in it.
class QueueWatcher {
public:
    virtual ~QueueWatcher() = default;
    /// May do the work that is waited for, and tells whether it did some.
    virtual bool help() { return false; }
    /// Units that may be freed as far as messages under way go.
    virtual std::int64_t sent() { return INT64_MAX; }
};

class Outbox {
public:
    /// @param agents    writers on this node, which all have to be done with a unit
    /// @param doorbell  on which they sleep
    /// @param grows     see memory_for()
    Outbox(std::unique_ptr<Segment> memory, int agents, Word& doorbell, Comm& world,
           bool grows = false);

    /// The memory of a rank that has told the writers what it holds.
    /// @param queue  bytes for data
    /// @param grows  they take no memory before they are used, and may be fewer where so many
    ///               cannot be
    /// @param spare  is used again if it is large enough, else freed; may be null
    static std::unique_ptr<Segment> memory_for(std::int64_t queue, const PackedBoxes& holdings,
                                               Status& status, bool grows = false,
                                               std::unique_ptr<Segment> spare = nullptr);
    /// The memory, which no writer looks at any more; then there is no more use of this.
    std::unique_ptr<Segment> release() { return std::move(memory_); }
    /// Units wait for earlier ones where they would have more than so many bytes together; so many
    /// take memory at once.
    void limit(std::int64_t bytes);
    std::int64_t capacity() const { return Region::of(*memory_).queue; }
    /// Bytes that take() needs for so many.
    static std::int64_t rounded(std::int64_t bytes) { return (bytes + grain - 1) / grain * grain; }

    /// Space in the open unit; waits for writers while there is none. Null if there can be none:
    /// the open unit alone fills the memory; the system has no more memory, which no_memory()
    /// tells; or the ranks are in different calls, which stuck() tells.
    /// @param after  bytes for which another take() must find space before the unit is published
    char* take(std::int64_t bytes, std::int64_t after = 0);
    bool stuck() const;
    bool no_memory() const { return no_memory_; }
    /// Tells the writers that this rank enters a call in which all ranks meet: until they all have,
    /// it publishes nothing.
    void meet();
    std::int64_t position(const char* data) const { return data - Region::data(*memory_); }
    const char* base() const { return Region::data(*memory_); }
    /// Bytes of the queue that take memory.
    std::int64_t touched() const { return touched_; }

    /// Where the last space taken begins, for publish().
    std::int64_t mark() const { return mark_; }

    /// Hands over the open unit. What becomes of it is seen later.
    /// @param keep  mark of the first space that stays open, -1: none does
    /// @return false if stuck(); then the unit stays open
    bool publish(Parcel& parcel, std::int64_t keep = -1);
    std::int64_t published() const { return next_; }

    /// Waits until the writers of the node are done with all that was published.
    void drain();
    /// Whether they are.
    bool drained();
    /// After drain(): space is taken from the start of the memory again, whatever is still open;
    /// the caller moves that.
    void restart() { head_ = tail_ = 0; }
    Status failure() const { return Region::of(*memory_).failure(); }
    const SegmentName& name() const { return memory_->name(); }
    Region& region() { return Region::of(*memory_); }

    void watch(QueueWatcher& watcher) { watcher_ = &watcher; }

    std::int64_t waits = 0;
    double wait_seconds = 0;
    std::int64_t most_bytes = 0;  ///< that were in the queue
    std::int64_t unit_bytes = 0;  ///< that were in it when a unit was published, added up
    /// Bytes that may be in it.
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
    std::deque<Unit> units_;  ///< not yet done
    std::int64_t next_ = 0;   ///< number of the open unit
    std::int64_t head_ = 0;   ///< bytes taken ever, with what is lost at the end of the memory
    std::int64_t tail_ = 0;   ///< of them, free again
    std::int64_t mark_ = 0;
    std::int64_t taken_ = 0;    ///< bytes for the open unit
    std::int64_t largest_ = 0;  ///< bytes of a unit
    std::int64_t limit_ = INT64_MAX;
    bool no_memory_ = false;
    std::int64_t touched_;  ///< bytes from the start of the memory that are there already
};

}  // namespace thalweg::detail
