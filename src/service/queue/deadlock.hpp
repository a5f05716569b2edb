// A deadlock between ranks: one is in a collective call, another waits for room in its queue, which
// is full of units that the first one has not published.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace thalweg::detail {

/// The state of a rank that is in its collective call number `call` and has published the units
/// before number `unit`, not counting those of boxes, for which no writer waits. Until all ranks
/// are in that call, no writer can complete this unit.
struct Deadlock {
    std::int64_t unit = 0;
    std::uint32_t call = 0;  ///< wraps around; 0: the rank has made no collective call

    /// Tests if the call of this state is later than another call.
    bool later_than(std::uint32_t other) const {
        return static_cast<std::int32_t>(call - other) > 0;
    }
    /// Tests if a rank that waits for room in its queue will wait forever.
    bool stops(std::int64_t published, std::uint32_t calls) const {
        return published > unit && later_than(calls);
    }
    /// Tests if this state is newer than another one: a later call or, for the same call, a lower
    /// unit.
    bool beyond(const Deadlock& other) const {
        return later_than(other.call) || (call == other.call && unit < other.unit);
    }
    /// Replaces this state by a newer one.
    void take(const Deadlock& other) {
        if (other.beyond(*this)) *this = other;
    }
};

}  // namespace thalweg::detail
