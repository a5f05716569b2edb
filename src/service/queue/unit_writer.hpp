// A writer's queue of one file: takes the unit parts of all ranks, writes unit after unit, counts
// the records in the header when all writers have written them, and informs the ranks of errors.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "base/thread.hpp"
#include "service/queue/composer.hpp"
#include "service/queue/file_rounds.hpp"
#include "service/queue/unit_sources.hpp"
#include "service/queue/unit_writer_host.hpp"

namespace thalweg::detail {

class UnitWriter {
public:
    UnitWriter(const Definitions& definitions, const Spaces& spaces, std::unique_ptr<Layout> layout,
               int writer, Storage& storage, UnitWriterOptions options, UnitWriterHost& host);

    /// Adds a rank of this node, before the first work(); fails if there is no memory for its
    /// holdings.
    Status add_region(std::unique_ptr<Segment> memory);
    /// Returns the sources. Any feeder must be added to them before the first work().
    UnitWriterSources& sources() { return sources_; }
    /// Returns the rounds. Any thread may call this function and sources().
    Rounds& rounds() { return rounds_.rounds(); }

    /// Does some of the work that is possible now, at most one unit. Any thread may call it.
    /// @return true if there was something to do
    bool work();
    /// Locks the storage, so that no other thread can work().
    std::unique_lock<WaitingLock> hold() { return std::unique_lock(working_); }
    /// Tests if this writer counts records: the first writer does, or each writer if each has a
    /// file of its own.
    bool counts_records() const { return rounds_.counts_records(); }
    /// Counts all records, once all writers have written all data. Only for writers that count
    /// records.
    /// @param durable  sync the count to the disk
    Status commit_all(bool durable);
    /// Processes data that wait for places in the file. The caller must hold().
    /// @return true if no data wait, or the file has failed
    bool settle_all();
    /// Stops all work of any thread.
    void retire();

    /// Counts, after an error, the records that all writers have written.
    /// @return true if there was something to do
    bool count_written();

    // Any thread may call the following functions.
    // Stops this writer.
    void fail(const Status& status);
    /// Informs this writer of an error elsewhere. It still writes the units that all ranks have
    /// published.
    void hear(const Status& status);
    /// Returns the error for which this writer has stopped.
    Status stopped() const;
    /// Returns the error for which this writer has stopped, or an error elsewhere.
    Status failure() const;
    std::int64_t records() const { return rounds_.records(); }
    /// Returns the number of records that this writer has written, regardless of other writers. The
    /// caller must hold().
    std::int64_t ended_records() const { return composer_.records(); }
    /// Returns the number of calls of tw_sync and tw_close that all ranks have made.
    std::int64_t marks() const { return rounds_.marks(); }
    WriteCounts counts() const;
    /// Tests if the writers of other nodes have ended as many rounds as this one.
    bool all_have() { return rounds().others() >= rounds().done(); }

    const Layout& layout() const { return *layout_; }

private:
    bool work_locked();
    bool discard();
    bool end_written();
    void take(UnitSource& source);
    bool take_boxes();
    bool end_apart();
    bool work_units();
    void write_units(std::span<const UnitPart> unit_parts);
    void finish_write(Status status);
    void fail_here(Status status);
    void note_counts(double seconds);
    void finish_round(bool mark);
    bool settle();
    bool commit();

    const Definitions& definitions_;
    std::unique_ptr<Layout> layout_;
    Storage& storage_;
    Placement* placement_;  ///< null: the storage writes data at once, without waiting for places
    UnitWriterOptions options_;
    UnitWriterHost& host_;
    UnitWriterSources sources_;
    Composer composer_;
    FileRounds rounds_;
    WaitingLock working_;       ///< held by the thread that works
    mutable std::mutex small_;  ///< guards failed_ and the next two members
    Status failed_;             ///< error for which this writer has stopped
    Status heard_;              ///< error elsewhere
    WriteCounts counts_;
    /// The next unit of this node's ranks, and the end of a step that they end apart from others,
    /// was sent to the other nodes.
    bool sent_ = false, sent_apart_ = false;
    bool lost_ = false;  ///< data that waited for a place could not be written
    bool retired_ = false;
};

}  // namespace thalweg::detail
