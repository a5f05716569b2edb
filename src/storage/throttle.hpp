// Limits a writer or a reader to some bytes a second by sleeping: a slow disk on a fast machine, or
// a share of a file system that others need, too.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/clock.hpp"

namespace thalweg::detail {

/// Limits the rate of writing or reading. Unused time does not allow more bytes later, except for a
/// short burst, which also makes up for sleeps that last too long.
class Throttle {
public:
    Throttle() = default;
    explicit Throttle(double bytes_per_second) : rate_(bytes_per_second) {}

    /// Starts a write or read; call before it.
    void begin() {
        if (rate_ > 0) free_ = std::max(free_, now() - burst);
    }

    /// Sleeps until the rate permits the bytes that were just written or read.
    void moved(std::int64_t bytes) {
        if (rate_ <= 0) return;
        free_ += bytes / rate_;
        for (double left; (left = free_ - now()) > 0;) sleep_seconds(left);
    }

private:
    /// Seconds by which a transfer may be ahead of its rate.
    static constexpr double burst = 0.010;
    double rate_ = 0;  ///< bytes a second; 0: no limit
    /// Time until which the rate is used up by the bytes so far.
    double free_ = 0;
};

}  // namespace thalweg::detail
