// The sources of a writer's units: ranks of its node, whose memory it shares, and senders, who send
// messages for ranks of other nodes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "comm/segment.hpp"
#include "service/queue/region.hpp"
#include "service/queue/unit_part.hpp"
#include "service/queue/writer/record_writer.hpp"

namespace thalweg::detail {

/// A deadlock between ranks: one is in a collective call, another waits for room in its queue,
/// which is full of units that the first one has not published. Describes the state of a rank that
/// is in its collective call number `call` and has published the units before number `unit`, not
/// counting those of boxes, for which no writer waits. Until all ranks are in that call, no writer
/// can complete this unit.
struct Deadlock {
    std::int64_t unit = 0;
    std::uint32_t call = 0;  ///< wraps around; 0: the rank has made no collective call

    /// Tests if the call of this state is later than another call.
    bool later_than(std::uint32_t other) const {
        return static_cast<std::int32_t>(call - other) > 0;
    }
    /// Tests if a rank that waits for room in its queue will wait forever.
    bool stops(std::int64_t published, std::uint32_t calls) const {
        return published > unit && later_than(calls);
    }
    /// Tests if this state is newer than another one: a later call or, for the same call, a lower
    /// unit.
    bool beyond(const Deadlock& other) const {
        return later_than(other.call) || (call == other.call && unit < other.unit);
    }
    /// Replaces this state by a newer one.
    void take(const Deadlock& other) {
        if (other.beyond(*this)) *this = other;
    }
};

struct UnitSource {
    std::unique_ptr<Segment> region;  ///< memory of the rank; null for senders
    PackedBoxes holdings;             ///< holdings of the rank
    std::int64_t mapped = 0;          ///< bytes of the queue whose pages are mapped
    /// Part of the node's memory to which the rank's units refer: its pages are mapped.
    std::int64_t copies_begin = INT64_MAX, copies_end = 0;
    /// For a sender (a rank that sends messages): its rank.
    int rank = -1;
    std::deque<std::vector<char>> messages;  ///< for a sender: messages that have arrived
    std::int64_t next = 0;                   ///< number of the next unit
    std::int64_t boxes = 0;  ///< units of kind `boxes` before the next one; of a rank of this node

    /// Returns a unit's descriptor, for a rank of this node.
    const char* descriptor(std::int64_t unit) const;
    /// Tests if a rank of this node waits for room in its queue.
    bool waits() const;
};

class UnitWriterSources {
public:
    /// @param local_writer  number of this writer among those of its node
    /// @param copies        memory of the node to which units may refer; null: there is none
    UnitWriterSources(const Definitions& definitions, int local_writer, Memory* copies)
        : definitions_(definitions), local_writer_(local_writer), copies_(copies) {}

    // Adds a rank of this node by its shared memory, before the first unit is taken.
    void add_region(std::unique_ptr<Segment> memory);
    void add_sender(int rank);

    // The following functions may be called by any thread.
    void deliver(int sender, std::vector<char> message);
    /// Notes that a rank which shares no memory with this writer has entered a collective call.
    void learn(const Deadlock& deadlock);
    /// Returns the latest collective call that a rank of this node, or one reported to learn(), has
    /// entered without publishing the current unit.
    Deadlock deadlock() const;
    /// Returns the bytes of waiting messages.
    std::int64_t waiting_bytes() const { return waiting_.load(std::memory_order_relaxed); }
    /// Returns the first error that a rank of this node has entered in its memory.
    Status failure() const;
    /// Informs the ranks of this node of an error.
    void fail(const Status& status) const;
    void tell_rounds(std::int64_t rounds) const;

    // The working thread calls the following functions.
    auto begin() { return all_.begin(); }
    auto end() { return all_.end(); }
    auto begin() const { return all_.begin(); }
    auto end() const { return all_.end(); }
    /// Returns the kind of a source's next unit, if there is one.
    std::optional<UnitKind> next_kind(const UnitSource& source) const;
    struct Presence {
        bool all = true;   ///< all sources have a next unit, which is not of boxes
        bool near = true;  ///< all ranks of this node have one
    };
    /// Searches for next units. If some are missing, informs the ranks of this node whose wait for
    /// room would be a deadlock.
    Presence look() const;
    /// Appends the unit parts of a source's next unit. They refer to its data, which are valid
    /// until take().
    void open(UnitSource& source, std::vector<UnitPart>& unit_parts) const;
    /// Releases a source's next unit. @return true if it was a message
    bool take(UnitSource& source);

private:
    void map_pages(UnitSource& source, std::span<const PackedValues> values) const;
    bool has(const UnitSource& source) const;
    std::optional<UnitKind> kind(const UnitSource& source) const;
    Deadlock find_deadlock() const;
    void tell_stuck() const;

    const Definitions& definitions_;
    int local_writer_;
    Memory* copies_;
    mutable std::mutex small_;  ///< guards the messages and elsewhere_
    std::vector<UnitSource> all_;
    Deadlock elsewhere_;
    std::atomic<std::int64_t> waiting_{0};
};

/// The thread or server that a writer belongs to, which receives its events and answers its
/// questions.
class UnitWriterEvents : public BetweenPieces {
public:
    /// Tests if this writer sends its node's data to writers of other nodes, and if it may do so
    /// now.
    virtual bool forwards() const { return false; }
    virtual bool may_forward() { return true; }
    /// Called when all ranks of the node have published a unit.
    virtual void forward(std::span<const UnitPart> unit_parts) { (void)unit_parts; }
    /// Called when this writer's state has changed: units done, errors.
    virtual void report() {}
    /// Called when a sender's message has been used.
    virtual void accepted(int sender) { (void)sender; }
};

}  // namespace thalweg::detail
