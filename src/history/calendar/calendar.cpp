// SPDX-License-Identifier: Apache-2.0
#include "history/calendar/calendar.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <regex>
#include <tuple>
#include <utility>

namespace thalweg::history {

namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::int64_t reform_year = 1582;
constexpr int reform_month = 10, reform_day = 15, last_julian_day = 4;

/// Returns the days from year 1 to the beginning of a year, as if the reform left out no days.
constexpr std::int64_t days_before(Calendar calendar, std::int64_t year) {
    const std::int64_t years = year - 1;
    switch (calendar) {
        case Calendar::days_360: return 360 * years;
        case Calendar::noleap: return 365 * years;
        case Calendar::all_leap: return 366 * years;
        case Calendar::julian: return 365 * years + floor_div(years, 4);
        default: break;
    }
    return 365 * years + floor_div(years, 4) - floor_div(years, 100) + floor_div(years, 400);
}

/// Returns the calendar, Julian or proleptic Gregorian, that the standard one follows at a date.
constexpr Calendar rules_of(Calendar calendar, std::int64_t year, int month, int of_month) {
    if (calendar != Calendar::standard) return calendar;
    const bool reformed =
        std::tuple(year, month, of_month) >= std::tuple(reform_year, reform_month, reform_day);
    return reformed ? Calendar::proleptic_gregorian : Calendar::julian;
}

constexpr bool leap(Calendar rules, std::int64_t year) {
    switch (rules) {
        case Calendar::all_leap: return true;
        case Calendar::noleap:
        case Calendar::days_360: return false;
        case Calendar::julian: return year % 4 == 0;
        default: return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    }
}

constexpr int month_length(Calendar rules, std::int64_t year, int month) {
    constexpr std::array<int, 12> lengths{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (rules == Calendar::days_360) return 30;
    return lengths[month - 1] + (month == 2 && leap(rules, year) ? 1 : 0);
}

constexpr std::int64_t day_number(Calendar rules, std::int64_t year, int month, int of_month) {
    std::int64_t days = days_before(rules, year) + of_month - 1;
    for (int m = 1; m < month; ++m) days += month_length(rules, year, m);
    return days;
}

constexpr std::int64_t reform_number =
    day_number(Calendar::julian, reform_year, reform_month, last_julian_day) + 1;
/// Days by which the standard calendar's numbers exceed proleptic Gregorian ones after the reform.
constexpr std::int64_t reform_shift =
    reform_number -
    day_number(Calendar::proleptic_gregorian, reform_year, reform_month, reform_day);

Date date_of_number(Calendar rules, std::int64_t number) {
    Date date;
    date.year = floor_div(number, 366) + 1;
    // The estimate is too small by at most one year in 366.
    while (true) {
        const std::int64_t days = number - days_before(rules, date.year);
        const std::int64_t length = days_before(rules, date.year + 1) - (number - days);
        if (days < 0)
            date.year -= 1;
        else if (days >= length)
            date.year += std::max<std::int64_t>(1, (days - length) / 366);
        else
            break;
    }
    int left = static_cast<int>(number - days_before(rules, date.year));
    for (date.month = 1; left >= month_length(rules, date.year, date.month); ++date.month)
        left -= month_length(rules, date.year, date.month);
    date.day = left + 1;
    return date;
}

bool read_date(std::string_view text, Date& date) {
    static const std::regex form(
        "(-?)([0-9]{1,6})-([0-9]{1,2})-([0-9]{1,2})"
        "([ T]([0-9]{1,2}):([0-9]{1,2})(:([0-9]{1,2})([.]([0-9]*))?)?)?");
    constexpr std::size_t longest = 80;  // the matcher's memory grows with the text
    std::match_results<std::string_view::const_iterator> found;
    if (text.size() > longest || !std::regex_match(text.begin(), text.end(), found, form))
        return false;
    const auto number = [&](int i) { return std::atoi(found[i].str().c_str()); };
    const Time hours = number(6), minutes = number(7), seconds = number(9);
    const std::string fraction = (found[11].str() + "000000").substr(0, 6);
    date = {found[1].length() > 0 ? -number(2) : number(2), number(3), number(4),
            (hours * 3600 + minutes * 60 + seconds) * one_second + std::atoi(fraction.c_str())};
    return hours < 24 && minutes < 60 && seconds < 60;
}

/// Returns the double nearest to a quotient; ties to even.
double nearest_quotient(std::int64_t numerator, std::int64_t denominator) {
    if (numerator == 0) return 0;
    const bool negative = numerator < 0;
    const Wide magnitude = negative ? -static_cast<Wide>(numerator) : static_cast<Wide>(numerator);
    // The shifted quotient has at least 63 bits. If its last one also tells if there is a
    // remainder, that is enough to round correctly.
    const int shift = std::countl_zero(static_cast<std::uint64_t>(magnitude)) + 62;
    const Wide shifted = magnitude << shift, divisor = static_cast<Wide>(denominator);
    const Wide quotient = shifted / divisor | (shifted % divisor != 0 ? 1 : 0);
    const double value = std::ldexp(static_cast<double>(quotient), -shift);
    return negative ? -value : value;
}

constexpr Time most_time = most_years * 366 * one_day;

}  // namespace

/// The first name of a calendar is the one that is written.
static constexpr std::array<std::pair<std::string_view, Calendar>, 9> calendar_names{
    {{"standard", Calendar::standard},
     {"gregorian", Calendar::standard},
     {"proleptic_gregorian", Calendar::proleptic_gregorian},
     {"julian", Calendar::julian},
     {"noleap", Calendar::noleap},
     {"365_day", Calendar::noleap},
     {"all_leap", Calendar::all_leap},
     {"366_day", Calendar::all_leap},
     {"360_day", Calendar::days_360}}};

Status parse_calendar(std::string_view name, Calendar& calendar) {
    for (const auto& [known, value] : calendar_names)
        if (known == name) {
            calendar = value;
            return {};
        }
    return failure(TW_EARG,
                   "unknown calendar '{}'; the calendars are standard, "
                   "proleptic_gregorian, julian, noleap, all_leap and 360_day",
                   name);
}

std::string_view calendar_name(Calendar calendar) {
    for (const auto& [name, value] : calendar_names)
        if (value == calendar) return name;
    return "";
}

int last_day(Calendar calendar, std::int64_t year, int month) {
    return month_length(rules_of(calendar, year, month, 31), year, month);
}

bool valid(Calendar calendar, const Date& date) {
    if (date.year < -most_years || date.year > most_years || date.month < 1 || date.month > 12)
        return false;
    if ((calendar == Calendar::standard || calendar == Calendar::julian) && date.year < 1)
        return false;
    if (date.time < 0 || date.time >= one_day || date.day < 1 ||
        date.day > last_day(calendar, date.year, date.month))
        return false;
    return calendar != Calendar::standard || date.year != reform_year ||
           date.month != reform_month || date.day <= last_julian_day || date.day >= reform_day;
}

Time time_of(Calendar calendar, const Date& date) {
    const Calendar rules = rules_of(calendar, date.year, date.month, date.day);
    std::int64_t number = day_number(rules, date.year, date.month, date.day);
    if (calendar == Calendar::standard && rules == Calendar::proleptic_gregorian)
        number += reform_shift;
    return number * one_day + date.time;
}

Date date_of(Calendar calendar, Time time) {
    std::int64_t number = floor_div(time, one_day);
    Calendar rules = calendar;
    const Time of_day = time - number * one_day;
    if (calendar == Calendar::standard) {
        const bool reformed = number >= reform_number;
        rules = reformed ? Calendar::proleptic_gregorian : Calendar::julian;
        if (reformed) number -= reform_shift;
    }
    Date date = date_of_number(rules, number);
    date.time = of_day;
    return date;
}

Date add_months(Calendar calendar, const Date& date, std::int64_t months) {
    const std::int64_t total = date.year * 12 + date.month - 1 + months;
    Date moved = date;
    moved.year = floor_div(total, 12);
    moved.month = static_cast<int>(total - moved.year * 12) + 1;
    moved.day = std::min(date.day, last_day(calendar, moved.year, moved.month));
    // A day that the reform left out becomes the day after the gap.
    if (calendar == Calendar::standard && moved.year == reform_year &&
        moved.month == reform_month && moved.day > last_julian_day && moved.day < reform_day)
        moved.day = reform_day;
    return moved;
}

Status parse_date(Calendar calendar, std::string_view text, Date& date) {
    if (!read_date(text, date))
        return failure(
            TW_EARG, "'{}' is not a date such as \"2000-01-31\" or \"2000-01-31 12:00:00\"", text);
    if (!valid(calendar, date))
        return failure(TW_EARG, "the calendar {} has no date '{}'", calendar_name(calendar), text);
    return {};
}

std::string date_text(const Date& date) {
    const Time whole = date.time / one_second;
    std::string text = fmt::format("{}{:04}-{:02}-{:02} {:02}:{:02}:{:02}",
                                   date.year < 0 ? "-" : "", std::abs(date.year), date.month,
                                   date.day, whole / 3600, whole / 60 % 60, whole % 60);
    if (const Time rest = date.time % one_second; rest != 0) text += fmt::format(".{:06}", rest);
    return text;
}

std::string date_text(Calendar calendar, Time time) { return date_text(date_of(calendar, time)); }

Status parse_seconds(double seconds, Time& time) {
    if (!(std::abs(seconds) < static_cast<double>(most_time / one_second)))
        return failure(TW_EARG, "{} is not a valid time in seconds", seconds);
    const double whole = std::trunc(seconds);
    time = static_cast<Time>(whole) * one_second + std::llround((seconds - whole) * one_second);
    return {};
}

double TimeUnits::value(Time time) const { return nearest_quotient(time - reference, unit); }

}  // namespace thalweg::history
