// A writer's queue of one file: takes the unit parts of all ranks, writes unit after unit, counts
// the records in the header when all writers have written them, and informs the ranks of errors.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>

#include "base/system/thread.hpp"
#include "service/queue/writer/file_rounds.hpp"
#include "service/queue/writer/record_writer.hpp"
#include "service/queue/writer/unit_sources.hpp"

namespace thalweg::detail {

/// Messages between a writer and other threads while it works: errors, and the counts of its
/// writes. Any thread may call these functions.
class WriterState {
public:
    /// @param rank  rank of the writer, for messages
    WriterState(int rank, const UnitWriterSources& sources, UnitWriterEvents& events)
        : rank_(rank), sources_(sources), events_(events) {}

    /// Stops the writer, and informs the ranks of its node.
    void fail(const Status& status);
    /// Stops the writer with an error of its own, to which its rank is added.
    void fail_here(Status status);
    /// Informs the writer of an error elsewhere. It still writes the units that all ranks have
    /// published.
    void hear(const Status& status);
    /// Returns the error for which the writer has stopped.
    Status stopped() const;
    /// Returns the error for which the writer has stopped, or an error elsewhere.
    Status failure() const;

    /// @param seconds  duration of the work since the last call
    void note_counts(const WriteCounts& counts, double seconds);
    WriteCounts counts() const;

private:
    void set(Status& error, const Status& status);

    int rank_;
    const UnitWriterSources& sources_;
    UnitWriterEvents& events_;
    mutable std::mutex mutex_;  ///< guards the members below
    Status failed_;             ///< error for which the writer has stopped
    Status heard_;              ///< error elsewhere
    WriteCounts counts_;
};

class UnitWriter {
public:
    /// @param writer  number of this writer among the layout's writers
    UnitWriter(ServicePlan plan, const FileSections& sections, int writer, Storage& storage,
               UnitWriterEvents& events);

    /// Adds a rank of this node by the name of its queue's memory, before the first work().
    Status add_region(const SegmentName& name);
    /// Returns the sources. Any sender must be added to them before the first work().
    UnitWriterSources& sources() { return sources_; }
    FileRounds& rounds() { return rounds_; }
    WriterState& state() { return state_; }

    /// Does some of the work that is possible now, at most one unit. Any thread may call it.
    /// @return true if there was something to do
    bool work();
    /// Locks the storage, so that no other thread can work().
    std::unique_lock<WaitingLock> hold() { return std::unique_lock(working_); }
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

    /// Returns the records that this writer has written, regardless of other writers, and those
    /// that it has counted. The caller must hold(), or have called retire().
    const Progress& progress() const { return progress_; }
    const Layout& layout() const { return *layout_; }

private:
    bool work_locked();
    bool discard();
    void take(UnitSource& source);
    bool take_boxes();
    bool work_units();
    void write_units(std::span<const UnitPart> unit_parts);
    void finish_write(Status status);
    void finish_round(bool mark);
    bool advance();

    ServicePlan plan_;
    std::unique_ptr<Layout> layout_;
    Storage& storage_;
    UnitWriterEvents& events_;
    UnitWriterSources sources_;
    Progress progress_;
    RecordWriter record_writer_;
    FileRounds rounds_;
    WriterState state_;
    WaitingLock working_;  ///< held by the thread that works
    bool sent_ = false;    ///< the next unit of this node's ranks was sent to the other nodes
    bool retired_ = false;
};

}  // namespace thalweg::detail
