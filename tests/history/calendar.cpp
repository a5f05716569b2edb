// SPDX-License-Identifier: Apache-2.0
#include "history/calendar/duration.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "history/dates.hpp"

namespace thalweg::history {
namespace {

constexpr std::array calendars{Calendar::standard, Calendar::proleptic_gregorian,
                               Calendar::julian,   Calendar::noleap,
                               Calendar::all_leap, Calendar::days_360};

TEST(Calendar, Names) {
    for (const Calendar calendar : calendars) {
        Calendar read{};
        ASSERT_TRUE(parse_calendar(calendar_name(calendar), read).ok());
        EXPECT_EQ(read, calendar);
    }
    Calendar read{};
    EXPECT_TRUE(parse_calendar("gregorian", read).ok());
    EXPECT_EQ(calendar_name(read), "standard");
    EXPECT_EQ(parse_calendar("utc", read).code, TW_EARG);
}

TEST(Calendar, EveryDayConvertsBack) {
    for (const Calendar calendar : calendars) {
        Date previous = date_of(calendar, 0);
        for (std::int64_t number = 1; number < 750000; ++number) {
            const Date date = date_of(calendar, number * one_day + 1);
            ASSERT_TRUE(valid(calendar, date)) << date_text(date);
            ASSERT_EQ(time_of(calendar, date), number * one_day + 1);
            const bool next = date.day == previous.day + 1 ||
                              (date.day == 1 && date.month != previous.month) ||
                              (calendar == Calendar::standard && date.day == 15);
            ASSERT_TRUE(next) << date_text(date);
            previous = date;
        }
    }
}

TEST(Calendar, RefusesDates) {
    Date date;
    for (const char* text :
         {"2001-02-29", "2000-13-01", "2000-00-01", "2000-1", "2000-01-01x", "2000-01-01 24:00",
          "2000-01-01T1", "", "2000-01-01 00:00:60", "-", "1582-10-05", "1582-10-14", "0000-01-01",
          "-0004-01-01", "100001-01-01"})
        EXPECT_EQ(parse_date(Calendar::standard, text, date).code, TW_EARG) << text;
    EXPECT_EQ(parse_date(Calendar::julian, "0000-01-01", date).code, TW_EARG);
    EXPECT_EQ(parse_date(Calendar::days_360, "2000-01-31", date).code, TW_EARG);
    EXPECT_TRUE(parse_date(Calendar::days_360, "2000-02-30", date).ok());
    EXPECT_TRUE(parse_date(Calendar::noleap, "0000-01-01", date).ok());
    EXPECT_TRUE(parse_date(Calendar::noleap, "-0004-01-01", date).ok());
    EXPECT_TRUE(parse_date(Calendar::standard, "1582-10-15T06:07:08.25", date).ok());
    EXPECT_EQ(date_text(date), "1582-10-15 06:07:08.250000");
}

TEST(Calendar, AddsMonths) {
    const auto added = [](Calendar calendar, const Date& date, std::int64_t months) {
        return date_text(add_months(calendar, date, months)).substr(0, 10);
    };
    EXPECT_EQ(added(Calendar::noleap, {2000, 1, 31, 0}, 1), "2000-02-28");
    EXPECT_EQ(added(Calendar::standard, {2000, 1, 31, 0}, 1), "2000-02-29");
    EXPECT_EQ(added(Calendar::standard, {2000, 1, 31, 0}, 2), "2000-03-31");
    EXPECT_EQ(added(Calendar::standard, {2000, 1, 31, 0}, -1), "1999-12-31");
    EXPECT_EQ(added(Calendar::standard, {1582, 9, 10, 0}, 1), "1582-10-15");
    EXPECT_EQ(added(Calendar::noleap, {-1, 12, 1, 0}, 1), "0000-01-01");
}

TEST(Calendar, UnitsOfTime) {
    const Time start = at(Calendar::noleap, "2000-01-31 12:00");
    TimeUnits units;
    ASSERT_TRUE(parse_time_units(Calendar::noleap, "days since START", start, units).ok());
    EXPECT_EQ(units.text, "days since 2000-01-31 12:00:00");
    EXPECT_EQ(units.value(start + one_hour), 1.0 / 24);
    Time back = 0;
    ASSERT_TRUE(parse_time_units(Calendar::noleap, "seconds since 1-1-1", start, units).ok());
    EXPECT_EQ(units.value(1), 1e-6);
    for (const double wrong :
         {std::numeric_limits<double>::quiet_NaN(), HUGE_VAL, -HUGE_VAL, 1e300, -1e19})
        EXPECT_EQ(parse_seconds(wrong, back).code, TW_EARG);
    for (const char* wrong : {"days", "months since 2000-01-01", "days since", "days since 2000",
                              "since 2000-01-01", "days since 2001-02-29", ""})
        EXPECT_EQ(parse_time_units(Calendar::noleap, wrong, start, units).code, TW_EARG) << wrong;
}

// A step of a third of a second does not drift in a million steps.
TEST(Calendar, SecondsDoNotDrift) {
    Time time = 0;
    for (std::int64_t step = 1; step <= 1'000'000; ++step) {
        ASSERT_TRUE(parse_seconds(static_cast<double>(step) * (1.0 / 3), time).ok());
        ASSERT_EQ(time % one_second == 0, step % 3 == 0) << step;
        if (step % 3 == 0) {
            ASSERT_EQ(time, step / 3 * one_second);
        }
    }
}

}  // namespace
}  // namespace thalweg::history
