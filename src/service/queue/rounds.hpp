// Rounds of a file's writers: what one has written, what all have, and how many records that makes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>

namespace thalweg::detail {

class Rounds {
public:
    // Any thread.
    /// Units that this writer has written.
    std::int64_t done() const { return done_.load(std::memory_order_acquire); }
    /// Units that the writers of other nodes have written.
    void others_have(std::int64_t rounds) { others_.store(rounds, std::memory_order_release); }
    std::int64_t others() const { return others_.load(std::memory_order_acquire); }

    // By the thread that works.
    /// @return rounds with this one
    std::int64_t end() { return done_.fetch_add(1, std::memory_order_release) + 1; }
    /// On a writer that counts records: there are so many after the round that ends next.
    void note(std::int64_t records) { records_after_.push_back(records); }
    /// Rounds that are counted already.
    std::int64_t counted() const { return counted_; }
    bool any_to_count() const { return !records_after_.empty(); }
    /// @return records after the first `rounds` of all; there are as many that were noted
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
    std::deque<std::int64_t> records_after_;  ///< rounds not yet counted
    std::int64_t counted_ = 0;
};

}  // namespace thalweg::detail
