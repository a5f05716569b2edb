// What servers answer to a command: each joins the answers of those below it to its own.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <climits>
#include <cstdint>
#include <vector>

#include "base/status.hpp"
#include "storage/storage.hpp"

namespace thalweg::detail {

struct Answer {
    Status status;             ///< the failure of the first server that has one
    int failed = INT_MAX;      ///< its number
    WriteCounts counts;        ///< together
    std::int64_t records = 0;  ///< of the file
    /// Where the file's data lie, in words; of the first server, if it has the file.
    std::vector<std::int64_t> map;

    void join(Answer other);
    std::vector<char> bytes() const;
    static Answer of(const std::vector<char>& bytes);
};

/// Answers of a server and those below it, until all are there.
class Answers {
public:
    explicit Answers(std::size_t number = 0) : missing_(number) {}
    /// @return whether it was the last one
    bool take(Answer answer);
    const Answer& together() const { return together_; }

private:
    Answer together_;
    std::size_t missing_;
};

}  // namespace thalweg::detail
