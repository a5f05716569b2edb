// Rounds of a file's writers: units that one of them has written, units that all have written, and
// the number of records in these.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>

namespace thalweg::detail {

class Rounds {
public:
    // Any thread may call the following functions.
    // Returns the number of units that this writer has written.
    std::int64_t done() const { return done_.load(std::memory_order_acquire); }
    /// Sets the number of units that the writers of other nodes have written.
    void others_have(std::int64_t rounds) { others_.store(rounds, std::memory_order_release); }
    std::int64_t others() const { return others_.load(std::memory_order_acquire); }

    // The working thread calls the following functions.
    // Ends a round.
    // @return the number of rounds, including this one
    std::int64_t end() { return done_.fetch_add(1, std::memory_order_release) + 1; }
    /// Notes the number of records after the next round. Only for a writer that counts records.
    void note(std::int64_t records) { records_after_.push_back(records); }
    /// Returns the number of rounds that are part of the record count.
    std::int64_t counted() const { return counted_; }
    bool any_to_count() const { return !records_after_.empty(); }
    /// Counts the first `rounds` rounds, which all writers have written.
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
    std::deque<std::int64_t> records_after_;  ///< records after rounds that are not yet counted
    std::int64_t counted_ = 0;
};

}  // namespace thalweg::detail
