// A writer's queue of one file: takes the unit parts of all ranks, writes unit after unit, counts
// the records in the header when all writers have written them, and informs the ranks of errors.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>

#include "base/system/thread.hpp"
#include "exchange/progress.hpp"
#include "service/queue/service_plan.hpp"
#include "service/queue/writer/record_writer.hpp"
#include "service/queue/writer/unit_sources.hpp"

namespace thalweg::detail {

/// The rounds of a writer, whose data may wait for places in the file. Raises the record count when
/// all writers have written the records. A round is the work on one unit of all ranks.
class FileRounds {
public:
    /// @param counts   this writer counts records: the first writer does, or each one in a file of
    /// its own
    FileRounds(Storage& storage, const ServicePlan& plan, UnitWriterSources& sources,
               UnitWriterEvents& events, bool counts, Progress& progress);

    // Any thread may call these functions.
    /// Returns the number of units that this writer has written.
    std::int64_t done() const { return done_.load(std::memory_order_acquire); }
    /// Sets the number of units that the writers of other nodes have written.
    void others_have(std::int64_t rounds) { others_.store(rounds, std::memory_order_release); }
    /// Tests if the writers of other nodes have written as many units as this one.
    bool all_have() const { return others_.load(std::memory_order_acquire) >= done(); }
    bool counts_records() const { return counts_; }
    /// Returns the number of tw_sync and tw_close whose units this writer has written.
    std::int64_t marks() const { return marks_.load(std::memory_order_acquire); }

    // The working thread calls these functions.
    /// Adds a unit that was processed; its data need not be in the file yet.
    void add(bool mark);
    /// Processes data that wait for places, ends the rounds whose data are all in the file, and
    /// raises the record count to what all writers of the file have written. After data that could
    /// not be written, only counts the records before them.
    /// @param worked  set if there was something to do
    Status advance(bool& worked);
    bool any_open() const { return !open_.empty(); }
    /// Counts all records, once all writers have written all data. Later reports do not lower the
    /// count.
    Status commit_all(bool durable);

private:
    struct Round {
        std::int64_t packed;  ///< number of chunks packed by the end of the round, see Placement
        std::int64_t records;
        bool mark;
    };
    Status settle(bool& worked);
    bool first_is_in_file() const;
    void end(const Round& round);
    std::int64_t written_by_all() const;
    Status commit(bool& worked);
    Status count(std::int64_t records, bool durable);

    Storage& storage_;
    Placement* placement_;  ///< null: the storage writes data at once, without waiting for places
    const ServicePlan& plan_;
    UnitWriterSources& sources_;
    UnitWriterEvents& events_;
    bool counts_;
    Progress& progress_;
    bool lost_ = false;  ///< data that waited for a place could not be written
    std::deque<Round> open_;
    std::atomic<std::int64_t> done_{0}, others_{INT64_MAX};
    std::deque<std::int64_t> records_after_;  ///< records after rounds that are not yet counted
    std::int64_t counted_ = 0;  ///< number of rounds that are part of the record count
    std::atomic<std::int64_t> marks_{0};
};

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
