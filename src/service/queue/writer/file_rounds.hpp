// The rounds of a writer, whose data may wait for places in the file. Raises the record count when
// all writers have written the records. A round is the work on one unit of all ranks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>

#include "exchange/progress.hpp"
#include "service/queue/service_plan.hpp"
#include "service/queue/writer/unit_sources.hpp"

namespace thalweg::detail {

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
    /// Returns the number of calls of tw_sync and tw_close that all ranks have made.
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

}  // namespace thalweg::detail
