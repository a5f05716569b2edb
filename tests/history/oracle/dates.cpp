// Writes random dates of a calendar and what they convert to, for check_dates.py.
//
//   history_dates CALENDAR UNITS COUNT SEED
//
// Each date is six 64-bit integers: year, month, day, microseconds of the day, the bits of the
// value in the units, and the microseconds since the units' reference.
// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cstdio>
#include <cstdlib>

#include "history/calendar/duration.hpp"
#include "system/random.hpp"

using namespace thalweg::history;

int main(int argc, char** argv) {
    Calendar calendar{};
    TimeUnits units;
    if (argc != 5 || !parse_calendar(argv[1], calendar).ok() ||
        !parse_time_units(calendar, argv[2], 0, units).ok())
        return 2;
    const bool begins = calendar == Calendar::standard || calendar == Calendar::julian;
    Random random(static_cast<std::uint64_t>(std::atoll(argv[4])));
    for (long long left = std::atoll(argv[3]); left > 0;) {
        Date date;
        // Take some of the dates from the years around the reform of the calendar.
        date.year = random.percent(10) ? random.between(1580, 1584)
                                       : random.between(begins ? 1 : -4000, 9999);
        date.month = static_cast<int>(random.between(1, 12));
        date.day = static_cast<int>(random.between(1, 31));
        const Time unit = random.percent(50) ? 1 : random.percent(50) ? one_second : one_hour;
        date.time = random.below(one_day / unit) * unit;
        if (!valid(calendar, date)) continue;
        const Time time = time_of(calendar, date);
        const double value = units.value(time);
        if (date_of(calendar, time) != date) return 1;
        const std::int64_t row[] = {date.year,
                                    date.month,
                                    date.day,
                                    date.time,
                                    std::bit_cast<std::int64_t>(value),
                                    time - units.reference};
        std::fwrite(row, sizeof row, 1, stdout);
        --left;
    }
    return 0;
}
