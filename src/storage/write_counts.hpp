// Counts of a driver's writes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace thalweg::detail {

/// Numbers of writes, by size: entry n counts writes of at least 2^n and less than 2^(n+1) bytes.
/// Entry 0 also counts empty writes; the last entry has no upper limit.
using WriteSizes = std::array<std::int64_t, 41>;

struct WriteCounts {
    std::int64_t calls = 0;
    std::int64_t bytes = 0;
    double seconds = 0;  ///< seconds spent in writes, including sleeps for the rate limit
    /// Seconds in which the writer of a queue worked on units, including the time of writes.
    double busy = 0;
    WriteSizes sizes{};  ///< number of write calls by size

    void count(std::int64_t n) {
        ++calls;
        bytes += n;
        const int class_of = n < 2 ? 0 : std::bit_width(static_cast<std::uint64_t>(n)) - 1;
        ++sizes[std::min(static_cast<std::size_t>(class_of), sizes.size() - 1)];
    }
    /// Adds the counts of another writer. Times are not added; the maximum is taken.
    void add(const WriteCounts& other) {
        calls += other.calls;
        bytes += other.bytes;
        seconds = std::max(seconds, other.seconds);
        busy = std::max(busy, other.busy);
        for (std::size_t i = 0; i < sizes.size(); ++i) sizes[i] += other.sizes[i];
    }
};

}  // namespace thalweg::detail
