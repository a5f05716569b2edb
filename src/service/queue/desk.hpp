// A writer's queue of one file: takes the parcels of all ranks, writes unit after unit, counts the
// records in the header when all writers have written them, and tells the ranks of failures.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "base/thread.hpp"
#include "service/queue/composer.hpp"
#include "service/queue/desk_host.hpp"
#include "service/queue/desk_sources.hpp"
#include "service/queue/file_rounds.hpp"

namespace thalweg::detail {

class Desk {
public:
    Desk(const Definitions& definitions, const Spaces& spaces, std::unique_ptr<Layout> layout,
         int writer, Storage& storage, DeskOptions options, DeskHost& host);

    /// Before the first work(): a rank of this node; fails where there is no memory for what it
    /// holds.
    Status add_region(std::unique_ptr<Segment> memory);
    /// Feeders are added before the first work(), too; what follows is for any thread.
    DeskSources& sources() { return sources_; }
    Rounds& rounds() { return rounds_.rounds(); }

    /// Does what can be done now, a unit at most. Any thread.
    /// @return whether there was something to do
    bool work();
    /// The same, unless another thread is at it.
    bool try_work();
    /// The storage is the caller's as long as it keeps the lock.
    std::unique_lock<WaitingLock> hold() { return std::unique_lock(working_); }
    /// Whether this writer counts records: the first one does, or each in a file of its own.
    bool counts_records() const { return rounds_.counts_records(); }
    /// On a writer that does, when all writers have written everything: counts all records, for
    /// good with `durable`.
    Status commit_all(bool durable);
    /// Goes on with what waits for its place in the file. Under hold().
    /// @return whether nothing does, or the file has failed
    bool settle_all();
    /// No more work, whoever asks.
    void retire();

    /// Counts, after a failure, the records that all writers have written.
    /// @return whether there was something to do
    bool count_written();

    // Any thread.
    /// Stops this writer.
    void fail(const Status& status);
    /// Tells it of a failure elsewhere: it still writes what all ranks have published.
    void hear(const Status& status);
    /// Returns the failure for which this writer has stopped.
    Status stopped() const;
    /// Returns that, or a failure that it has heard of.
    Status failure() const;
    std::int64_t records() const { return rounds_.records(); }
    /// Records that this writer has written, whatever the others have. Under hold().
    std::int64_t ended_records() const { return composer_.records(); }
    /// Calls of tw_sync and tw_close that all ranks have passed.
    std::int64_t marks() const { return rounds_.marks(); }
    WriteCounts counts() const;
    /// Whether the writers of other nodes have all that this one has written.
    bool all_have() { return rounds().others() >= rounds().done(); }

    const Layout& layout() const { return *layout_; }

private:
    bool work_locked();
    bool discard();
    bool end_written();
    void take(DeskSource& source);
    bool work_units();
    bool send_on(std::span<const Parcel> own);
    void write_units(std::span<const Parcel> parcels);
    Status sync_where_durable();
    void fail_here(Status status);
    void note_counts(double seconds);
    void finish_round(bool mark);
    bool settle();
    bool commit();

    // Where ranks write by boxes.
    bool boxes_next();
    bool work_boxes();
    bool take_boxes();
    void write_boxes(std::span<const Parcel> parcels);
    void end_boxes(std::span<const Parcel> parcels, bool all_marks);

    const Definitions& definitions_;
    const Spaces& spaces_;
    std::unique_ptr<Layout> layout_;
    Storage& storage_;
    Placement* placement_;  ///< null: what was given to the storage is in the file
    DeskOptions options_;
    DeskHost& host_;
    DeskSources sources_;
    Composer composer_;
    FileRounds rounds_;
    WaitingLock working_;       ///< held by who works
    mutable std::mutex small_;  ///< guards the next three
    Status failed_;             ///< for which this writer has stopped
    Status heard_;              ///< of a failure elsewhere
    WriteCounts counts_;
    std::int64_t worked_ = 0, forwarded_ = 0;  ///< units
    bool marks_sent_ = false;  ///< with boxes: of this node's ranks, all of which wait at one
    bool given_ = false;       ///< some rank gives the records of what it puts
    bool lost_ = false;        ///< something that waited for its place could not be written
    bool retired_ = false;
};

}  // namespace thalweg::detail
