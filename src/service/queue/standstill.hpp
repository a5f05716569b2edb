// Ranks that wait for each other without an end: one in a call in which all ranks meet, another
// for room in its queue, which is full of units that the first one has not published.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace thalweg::detail {

/// A rank that is in its meeting number `meeting` has published the units before `unit`: until all
/// ranks are in that meeting, no writer can complete the unit.
struct Standstill {
    std::int64_t unit = 0;
    std::uint32_t meeting = 0;  ///< goes round; 0: none yet

    /// Whether its meeting is behind another one.
    bool later_than(std::uint32_t other) const {
        return static_cast<std::int32_t>(meeting - other) > 0;
    }
    /// Whether a rank that waits for room waits for ever.
    /// @param published  its units, the first of which numbers 0
    /// @param meetings   in which it has been
    bool stops(std::int64_t published, std::uint32_t meetings) const {
        return published > unit && later_than(meetings);
    }
    /// Whether it tells more than another one: a later meeting or, of the same one, a lower unit.
    bool beyond(const Standstill& other) const {
        return later_than(other.meeting) || (meeting == other.meeting && unit < other.unit);
    }
    /// Keeps the one that tells more.
    void take(const Standstill& other) {
        if (other.beyond(*this)) *this = other;
    }
};

}  // namespace thalweg::detail
