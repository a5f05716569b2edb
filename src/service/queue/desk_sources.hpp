// From whom a writer takes units: ranks of its node, whose memory it shares, and feeders, who send
// messages for ranks of other nodes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "comm/segment.hpp"
#include "service/queue/parcel.hpp"
#include "service/queue/region.hpp"
#include "service/queue/standstill.hpp"

namespace thalweg::detail {

struct DeskSource {
    std::unique_ptr<Segment> region;         ///< of a rank of this node,
    PackedBoxes holdings;                    ///< and what it holds; or
    int rank = -1;                           ///< of a feeder
    std::deque<std::vector<char>> messages;  ///< of a feeder
    std::int64_t next = 0;                   ///< unit
    std::int64_t sent = 0;                   ///< units before it went to other nodes in a round
    std::deque<std::vector<Parcel>> ended;   ///< with boxes: steps that not all have ended

    const std::int64_t* descriptor(std::int64_t unit) const;  ///< of a region
    /// Whether a rank of this node cannot go on, or not far, before its next unit is written.
    bool ahead() const;
    /// The same, whatever its next units are. Who sends messages cannot say, and counts as such.
    bool far_ahead() const;
};

class DeskSources {
public:
    /// @param agent  number of this writer on its node
    DeskSources(const Definitions& definitions, int agent)
        : definitions_(definitions), agent_(agent) {}

    // Before the first unit is taken.
    void add_region(std::unique_ptr<Segment> memory);
    void add_feeder(int rank);

    // Any thread.
    void deliver(int feeder, std::vector<char> message);
    /// A rank that shares no memory with this writer has entered a meeting.
    void learn(const Standstill& standstill);
    /// The last meeting that a rank of this node, or one that learn() told of, has entered without
    /// the unit that is worked on.
    Standstill standstill() const;
    /// Bytes of messages that wait.
    std::int64_t waiting_bytes() const { return waiting_.load(std::memory_order_relaxed); }
    /// The first failure in a rank's memory.
    Status failure() const;
    /// Tells the ranks of this node.
    void fail(const Status& status) const;
    void tell_rounds(std::int64_t rounds) const;

    // By the thread that works.
    auto begin() { return all_.begin(); }
    auto end() { return all_.end(); }
    auto begin() const { return all_.begin(); }
    auto end() const { return all_.end(); }
    bool has_next(const DeskSource& source) const;
    /// Whether its next unit is a mark.
    bool at_mark(const DeskSource& source) const;
    /// Whether the next unit of some holds boxes.
    bool any_boxes() const;
    struct Presence {
        bool all = true;   ///< have a next unit
        bool near = true;  ///< the ranks of this node have
    };
    /// Where not all have one, ranks of this node that wait for room for ever are told.
    Presence look() const;
    /// The parcels of a source's next unit; their data stay where they are until take().
    std::vector<Parcel> open(const DeskSource& source) const;
    /// This writer has no more use for a source's next unit. @return whether it was a message
    bool take(DeskSource& source);

private:
    bool has(const DeskSource& source) const;
    Standstill find_standstill() const;
    void tell_stuck() const;
    template <class Visit>
    void visit(const DeskSource& source, Visit&& visit) const;

    const Definitions& definitions_;
    int agent_;
    mutable std::mutex small_;  ///< guards the messages and elsewhere_
    std::vector<DeskSource> all_;
    Standstill elsewhere_;
    std::atomic<std::int64_t> waiting_{0};
};

}  // namespace thalweg::detail
