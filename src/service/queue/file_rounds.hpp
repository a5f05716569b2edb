// The rounds of a writer until all of them is in the file, and the record count, which is raised
// when all writers have written them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <deque>

#include "service/queue/desk_host.hpp"
#include "service/queue/desk_sources.hpp"
#include "service/queue/rounds.hpp"

namespace thalweg::detail {

class FileRounds {
public:
    /// @param counts   this writer counts records: the first one does, or each in a file of its own
    /// @param records  of the file
    FileRounds(Storage& storage, const DeskOptions& options, DeskSources& sources, DeskHost& host,
               bool counts, std::int64_t records);

    // Any thread.
    Rounds& rounds() { return rounds_; }
    bool counts_records() const { return counts_; }
    std::int64_t records() const { return records_.load(std::memory_order_acquire); }
    /// Calls of tw_sync and tw_close that all ranks have passed.
    std::int64_t marks() const { return marks_.load(std::memory_order_acquire); }

    // By the thread that works.
    /// A unit was worked on, all of which need not be in the file yet.
    /// @param records  with it
    void add(std::int64_t records, bool mark);
    /// Goes on with what waits for its place, and ends the rounds of which everything is in the
    /// file.
    /// @param worked  is set if there was something to do
    Status settle(bool& worked);
    bool any_open() const { return !open_.empty(); }
    /// Raises the record count to what all writers of the file have written.
    /// @param worked  is set if there was something to do
    Status commit(bool& worked);
    /// When all writers have written everything. Reports that come late do not lower the count
    /// again.
    Status commit_all(std::int64_t records, bool durable);

private:
    struct Round {
        std::int64_t packed;  ///< see Placement
        std::int64_t records;
        bool mark;
    };
    bool first_is_in_file() const;
    void end(const Round& round);
    std::int64_t written_by_all() const;

    Storage& storage_;
    Placement* placement_;  ///< null: what was given to the storage is in the file
    const DeskOptions& options_;
    DeskSources& sources_;
    DeskHost& host_;
    bool counts_;
    Rounds rounds_;
    std::deque<Round> open_;
    std::atomic<std::int64_t> records_, marks_{0};
};

}  // namespace thalweg::detail
