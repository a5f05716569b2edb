// A writer's queue of one file: takes the parcels of all ranks, writes unit after unit, counts the
// records in the header when all writers have written them, and tells the ranks of failures.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "comm/thread.hpp"
#include "service/queue/composer.hpp"
#include "service/queue/desk_sources.hpp"
#include "service/queue/rounds.hpp"

namespace thalweg::detail {

struct DeskOptions {
    std::string path;  ///< for messages
    std::int64_t piece = 2 << 20;
    bool durable = false;
    int rank = 0;           ///< of this writer, for messages
    int agent = 0;          ///< number of this writer on its node
    int node_agents = 1;    ///< writers of this node
    bool own_file = false;  ///< it counts its own records
    Existing existing = {};
    Wording wording = {};
};

/// What a desk asks of the thread or server that it belongs to.
class DeskHost : public BetweenPieces {
public:
    /// Whether this desk sends on what its node's ranks have for other nodes' writers, and whether
    /// it may now.
    virtual bool forwards() const { return false; }
    virtual bool may_forward() { return true; }
    /// All of the node's ranks have published a unit.
    virtual void forward(std::span<const Parcel> parcels) { (void)parcels; }
    /// This writer's state changed: units done, failures.
    virtual void report() {}
    /// A feeder's message has been used.
    virtual void accepted(int feeder) { (void)feeder; }
};

class Desk {
public:
    Desk(const Definitions& definitions, const Spaces& spaces, std::unique_ptr<Layout> layout,
         int writer, Storage& storage, DeskOptions options, DeskHost& host);

    /// Before the first work(): a rank of this node; fails where there is no memory for what it
    /// holds.
    Status add_region(std::unique_ptr<Segment> memory);
    /// Feeders are added before the first work(), too; what follows is for any thread.
    DeskSources& sources() { return sources_; }
    Rounds& rounds() { return rounds_; }

    /// Does what can be done now, a unit at most. Any thread.
    /// @return whether there was something to do
    bool work();
    /// The same, unless another thread is at it.
    bool try_work();
    /// The storage is the caller's as long as it keeps the lock.
    std::unique_lock<WaitingLock> hold() { return std::unique_lock(working_); }
    /// Whether this writer counts records: the first one does, or each in a file of its own.
    bool counts_records() const { return writer_ == 0 || options_.own_file; }
    /// On a writer that does, when all writers have written everything: counts all records, for
    /// good with `durable`. Reports that come late do not lower the count again.
    Status commit_all(bool durable);
    /// Goes on with what waits for its place in the file. Under hold().
    /// @return whether nothing does, or the file has failed
    bool settle_all();
    /// No more work, whoever asks.
    void retire();

    // Any thread.
    void fail(const Status& status);
    Status failure() const;
    std::int64_t records() const { return records_.load(std::memory_order_acquire); }
    /// Records that this writer has written, whatever the others have. Under hold().
    std::int64_t ended_records() const { return composer_.records(); }
    /// Calls of tw_sync and tw_close that all ranks have passed.
    std::int64_t marks() const { return marks_.load(std::memory_order_acquire); }
    WriteCounts counts() const;
    /// Whether the writers of other nodes have all that this one has written.
    bool all_have() const { return rounds_.others() >= rounds_.done(); }

    const Layout& layout() const { return *layout_; }

private:
    /// A unit that was worked on; all of it need not be in the file yet.
    struct OpenRound {
        std::int64_t packed;   ///< see Placement
        std::int64_t records;  ///< with it
        bool mark;
    };
    bool work_locked();
    bool discard();
    void pass_on(const Status& status);
    void take(DeskSource& source);
    bool work_units();
    bool work_boxes();
    bool take_boxes();
    bool write_as_they_come();
    bool send_on(std::span<const Parcel> own);
    void end_boxes(std::span<const Parcel> parcels, bool all_marks);
    void write_units(std::span<const Parcel> parcels);
    void write_boxes(std::span<const Parcel> parcels);
    void write(Status status);
    void note_counts(double seconds);
    void finish_round(bool mark);
    bool settle();
    void end_round(const OpenRound& round);
    std::int64_t rounds_of_all() const;
    bool commit();
    bool boxes_next();

    const Definitions& definitions_;
    const Spaces& spaces_;
    std::unique_ptr<Layout> layout_;
    int writer_;
    Storage& storage_;
    Placement* placement_;  ///< null: what was given to the storage is in the file
    DeskOptions options_;
    DeskHost& host_;
    DeskSources sources_;
    Rounds rounds_;
    Composer composer_;
    WaitingLock working_;       ///< held by who works
    mutable std::mutex small_;  ///< guards the next two
    Status failed_;             ///< of this writer, or that it was told or found
    WriteCounts counts_;
    std::atomic<std::int64_t> records_{0}, marks_{0};
    std::int64_t worked_ = 0, forwarded_ = 0;  ///< units
    std::deque<OpenRound> open_rounds_;
    bool marks_sent_ = false;  ///< with boxes: of this node's ranks, all of which wait at one
    bool given_ = false;       ///< some rank gives the records of what it puts
    bool retired_ = false;
};

}  // namespace thalweg::detail
