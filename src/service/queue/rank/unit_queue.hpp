// A rank's end of the queue: space for its puts, published unit by unit, limited in bytes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <memory>

#include "comm/comm.hpp"
#include "service/queue/rank/queue_memory.hpp"
#include "service/queue/unit_part.hpp"

namespace thalweg::detail {

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

    /// Waits until the writers of the node are done with all published units.
    void drain();
    /// Tests if the writers of the node are done with all published units.
    bool drained();

    /// Sets a function that returns the first unit of which a message is still in transit. The
    /// memory of earlier units may be reused.
    void watch(std::function<std::int64_t()> sent) { sent_ = std::move(sent); }

    std::int64_t waits = 0;
    double wait_seconds = 0;
    std::int64_t most_bytes = 0;  ///< most bytes in the queue at any time
    /// Sum, over the published units, of the bytes in the queue when the unit was published.
    std::int64_t unit_bytes = 0;

private:
    struct Unit {
        std::int64_t number, end;
    };
    std::int64_t done() const;
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
};

}  // namespace thalweg::detail
