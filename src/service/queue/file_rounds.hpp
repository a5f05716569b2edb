// The rounds of a writer, whose data may wait for places in the file, and the record count, which
// is raised when all writers have written the records. A round is the work on one unit of all
// ranks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>

#include "service/queue/unit_sources.hpp"
#include "service/queue/unit_writer_host.hpp"

namespace thalweg::detail {

/// Counts the rounds that this writer has ended, those that the writers of all other nodes have
/// ended, and those that the record count includes.
class Rounds {
public:
    // The following functions may be called by any thread.
    /// Returns the number of rounds that this writer has ended: all their data are in the file.
    std::int64_t done() const { return done_.load(std::memory_order_acquire); }
    /// Sets the number of rounds that all writers of other nodes have ended.
    void others_have(std::int64_t rounds) { others_.store(rounds, std::memory_order_release); }
    std::int64_t others() const { return others_.load(std::memory_order_acquire); }

    // The following functions are called by the thread that works.
    /// Ends a round.
    /// @return the number of rounds, including this one
    std::int64_t end() { return done_.fetch_add(1, std::memory_order_release) + 1; }
    /// Notes the number of records after the next round; on a writer that counts records.
    void note(std::int64_t records) { records_after_.push_back(records); }
    /// Returns the number of rounds that are part of the record count.
    std::int64_t counted() const { return counted_; }
    bool any_to_count() const { return !records_after_.empty(); }
    /// Adds the first `rounds` rounds, which all writers have ended, to the record count.
    /// @return the number of records after them, as passed to note()
    std::int64_t count(std::int64_t rounds) {
        std::int64_t records = 0;
        for (; counted_ < rounds; ++counted_) {
            records = records_after_.front();
            records_after_.pop_front();
        }
        return records;
    }
    void count_all() {
        records_after_.clear();
        counted_ = done();
    }

private:
    std::atomic<std::int64_t> done_{0};
    std::atomic<std::int64_t> others_{INT64_MAX};
    /// Number of records after each round that is not yet part of the record count.
    std::deque<std::int64_t> records_after_;
    std::int64_t counted_ = 0;
};

class FileRounds {
public:
    /// @param counts   this writer counts records: the first writer does, or each one in a file of
    /// its own
    /// @param records  number of records that the file has now
    FileRounds(Storage& storage, const UnitWriterOptions& options, UnitWriterSources& sources,
               UnitWriterHost& host, bool counts, std::int64_t records);

    // Any thread may call this function.
    Rounds& rounds() { return rounds_; }
    bool counts_records() const { return counts_; }
    std::int64_t records() const { return records_.load(std::memory_order_acquire); }
    /// Returns the number of calls of tw_sync and tw_close that all ranks have made.
    std::int64_t marks() const { return marks_.load(std::memory_order_acquire); }

    // The following functions are called by the working thread.
    // Adds a unit that was processed; its data need not be in the file yet.
    // @param records  number of records including this unit
    void add(std::int64_t records, bool mark);
    /// Processes data that wait for places, and ends the rounds whose data are all in the file.
    /// @param worked  set if there was something to do
    Status settle(bool& worked);
    bool any_open() const { return !open_.empty(); }
    /// Raises the record count to what all writers of the file have written.
    /// @param worked  set if there was something to do
    Status commit(bool& worked);
    /// Sets the record count to `records`, once all writers have written all data. Later reports do
    /// not lower it.
    Status commit_all(std::int64_t records, bool durable);

private:
    struct Round {
        std::int64_t packed;  ///< number of chunks packed by the end of the round, see Placement
        std::int64_t records;
        bool mark;
    };
    bool first_is_in_file() const;
    void end(const Round& round);
    std::int64_t written_by_all() const;

    Storage& storage_;
    Placement* placement_;  ///< null: the storage writes data at once, without waiting for places
    const UnitWriterOptions& options_;
    UnitWriterSources& sources_;
    UnitWriterHost& host_;
    bool counts_;
    Rounds rounds_;
    std::deque<Round> open_;
    std::atomic<std::int64_t> records_, marks_{0};
};

}  // namespace thalweg::detail
