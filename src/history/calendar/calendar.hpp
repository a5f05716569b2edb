// Dates, times and their conversion in the calendars of CF, in integer arithmetic.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.hpp"

namespace thalweg::history {

using detail::failure;
using detail::Status;

enum class Calendar : std::uint8_t {
    standard,
    proleptic_gregorian,
    julian,
    noleap,
    all_leap,
    days_360
};

/// Microseconds since 0001-01-01 00:00:00 of the calendar.
using Time = std::int64_t;

inline constexpr Time one_second = 1'000'000;
inline constexpr Time one_hour = 3600 * one_second;
inline constexpr Time one_day = 24 * one_hour;

/// Divides and rounds down. @param b  positive
constexpr std::int64_t floor_div(std::int64_t a, std::int64_t b) {
    return a / b - (a % b < 0 ? 1 : 0);
}

/// Largest distance of a year from 0. With it, differences of times fit into 64 bits.
inline constexpr std::int64_t most_years = 100'000;

struct Date {
    std::int64_t year = 1;
    int month = 1;
    int day = 1;
    Time time = 0;  ///< microseconds since midnight

    bool operator==(const Date&) const = default;
};

/// Reads CF's name of a calendar, synonyms included (gregorian, 365_day, 366_day).
/// @return TW_OK, TW_EARG
Status parse_calendar(std::string_view name, Calendar& calendar);

std::string_view calendar_name(Calendar calendar);

/// Returns the number of the month's last day, also for October 1582: 31.
int last_day(Calendar calendar, std::int64_t year, int month);

/// Tests if the calendar has this date. The standard and the Julian calendar have no year below 1.
bool valid(Calendar calendar, const Date& date);

Time time_of(Calendar calendar, const Date& date);
Date date_of(Calendar calendar, Time time);

/// Adds months to a valid date. A day that the month does not have becomes its last one.
Date add_months(Calendar calendar, const Date& date, std::int64_t months);

/// Reads "YYYY-MM-DD", with " hh:mm", "Thh:mm" and ":ss[.ffffff]" after it.
/// @return TW_OK, TW_EARG: no date, or one that the calendar does not have
Status parse_date(Calendar calendar, std::string_view text, Date& date);

/// Writes "YYYY-MM-DD hh:mm:ss", with a fraction of the second if it is not 0.
std::string date_text(const Date& date);
std::string date_text(Calendar calendar, Time time);

/// Rounds seconds to whole microseconds. @return TW_OK, TW_EARG: not finite, or beyond `most_years`
Status parse_seconds(double seconds, Time& time);

/// Units of a time coordinate, such as "days since 1850-01-01".
struct TimeUnits {
    Time unit = one_day;  ///< length in microseconds
    Time reference = 0;   ///< time of the value 0
    std::string text;     ///< text that is written to the file

    /// Returns the double nearest to the exact value of a time.
    double value(Time time) const;
};

}  // namespace thalweg::history
