// Durations, and the boundaries at which they divide time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "history/calendar/calendar.hpp"

namespace thalweg::history {

enum class Unit : std::uint8_t { step, second, minute, hour, day, week, month, year };

struct Duration {
    std::int64_t count = 1;
    Unit unit = Unit::day;

    bool operator==(const Duration&) const = default;
};

/// Reads "N UNIT", "UNIT", or a duration of ISO 8601 with one number, such as P1M or PT6H.
/// @return TW_OK, TW_EARG
Status parse_duration(std::string_view text, Duration& duration);

/// Writes "1 month", "5 days".
std::string duration_text(const Duration& duration);

/// The point from which boundaries are counted.
struct Anchor {
    enum class Kind : std::uint8_t { calendar, start, date } kind = Kind::calendar;
    Date date;  ///< date of Kind::date
};

/// The edge of a window that is part of the window: b(k) or b(k-1).
enum class Edge : std::uint8_t {
    end,   ///< (b(k-1), b(k)]: a sample belongs to the end of its step
    begin  ///< [b(k-1), b(k)): a sample belongs to the beginning of its step
};

/// Increasing times b(k), for every integer k.
class Boundaries {
public:
    /// @param start  the history's start
    /// @param step   length of the model's step, needed for durations in steps; 0: unknown
    /// @return TW_OK, TW_ESETTING: the duration does not fit the calendar without an anchor
    static Status make(Calendar calendar, const Duration& every, const Anchor& anchor, Time start,
                       Time step, Boundaries& made);

    Calendar calendar() const { return calendar_; }
    Time at(std::int64_t k) const;
    /// Returns the number k of the window from b(k-1) to b(k) to which a time belongs.
    std::int64_t window(Time time, Edge edge) const;
    /// Returns the largest k with b(k) <= time.
    std::int64_t last(Time time) const { return window(time, Edge::begin) - 1; }
    bool has(Time time) const { return at(last(time)) == time; }

    /// Returns the distance of the times of the day at which boundaries lie, counted from that of
    /// at(0): a day if all lie at the same time of the day.
    Time daily() const;
    /// Tests if each of these boundaries is also one of `finer`.
    bool refined_by(const Boundaries& finer) const;

private:
    Calendar calendar_ = Calendar::standard;
    Time origin_ = 0;          ///< b(0)
    Date date_;                ///< date of b(0)
    Time length_ = one_day;    ///< length of a window; 0: it is given in months
    std::int64_t months_ = 0;  ///< length of a window in months
};

}  // namespace thalweg::history
