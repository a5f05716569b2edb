// Durations, and the boundaries at which they divide time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "history/calendar/calendar.hpp"

namespace thalweg::history {

enum class Unit : std::uint8_t { step, second, minute, hour, day, week, month, season, year };

/// Returns the length of a unit; 0: it depends on the calendar or the model.
Time unit_length(Unit unit);
/// Returns the length of a unit in months; 0: it is not given in months.
std::int64_t months_in(Unit unit);

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

/// A duration that divides time until another one has passed, such as "3 hours to 72 hours".
struct Interval {
    Duration every;
    std::optional<Duration> until;  ///< since the first interval's begin; none: for ever
};

/// @return TW_OK, TW_EARG
Status parse_interval(std::string_view text, Interval& interval);
std::string interval_text(const Interval& interval);

/// Reads "UNIT since DATE": seconds, minutes, hours or days; DATE may be START.
/// @return TW_OK, TW_EARG
Status parse_time_units(Calendar calendar, std::string_view text, Time start, TimeUnits& units);

struct Anchor {
    enum class Kind : std::uint8_t { calendar, start, date } kind = Kind::calendar;
    Date date;  ///< date of Kind::date
};

/// The edge of a window that is part of the window: b(k) or b(k-1).
enum class Edge : std::uint8_t {
    end,   ///< (b(k-1), b(k)]: a sample belongs to the end of its step
    begin  ///< [b(k-1), b(k)): a sample belongs to the beginning of its step
};

/// A time after all times of models.
inline constexpr Time forever = INT64_MAX / 4;

/// The run of a model.
struct RunTimes {
    Calendar calendar = Calendar::standard;
    Time start = 0;
    Time step = 0;  ///< length of the model's step; 0: unknown
};

/// Increasing times b(k), for every integer k.
class Boundaries {
public:
    /// @return TW_OK, TW_ESETTING: the duration does not fit the calendar without an anchor
    static Status make(const RunTimes& run, const Duration& every, const Anchor& anchor,
                       Boundaries& made);
    /// Makes the boundaries of intervals that follow each other from the anchor's date, or else
    /// from the start; all but the last one have an end. A single one is like a duration.
    static Status make(const RunTimes& run, std::span<const Interval> intervals,
                       const Anchor& anchor, Boundaries& made);
    /// Makes boundaries at increasing times; others are `forever` or its negative.
    static Boundaries at_times(Calendar calendar, std::vector<Time> times);

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
    bool refined_by(const Boundaries& finer) const;

private:
    Calendar calendar_ = Calendar::standard;
    Time origin_ = 0;          ///< b(0)
    Date date_;                ///< date of b(0)
    Time length_ = one_day;    ///< length of a window; 0: it is given in months
    std::int64_t months_ = 0;  ///< length of a window in months
    std::vector<Time> times_;  ///< all boundaries; empty: they are regular
    /// Boundaries after b(last_), which is their b(0); null: there are no others.
    std::shared_ptr<const Boundaries> next_;
    std::int64_t last_ = 0;
};

}  // namespace thalweg::history
