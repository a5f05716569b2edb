// SPDX-License-Identifier: Apache-2.0
#include "history/calendar/calendar.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

namespace thalweg::history {

namespace {

__extension__ using Wide = unsigned __int128;

/// First day of the Gregorian calendar, and last day of the Julian one.
constexpr std::int64_t reform_year = 1582;
constexpr int reform_month = 10, reform_day = 15, last_julian_day = 4;

/// Returns the number of days from the beginning of year 1 to that of another year, without
/// subtracting the days that the Gregorian reform left out.
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

/// Returns the calendar whose rules the standard calendar follows at a date: the Julian or the
/// proleptic Gregorian one.
constexpr Calendar rules_of(Calendar calendar, std::int64_t year, int month, int of_month) {
    if (calendar != Calendar::standard) return calendar;
    const bool reformed =
        year > reform_year ||
        (year == reform_year &&
         (month > reform_month || (month == reform_month && of_month >= reform_day)));
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
/// Number of days by which the standard calendar's day numbers exceed the proleptic Gregorian ones
/// after the reform.
constexpr std::int64_t reform_shift =
    reform_number -
    day_number(Calendar::proleptic_gregorian, reform_year, reform_month, reform_day);

/// Returns the year, month and day of a day's number.
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

/// Reads parts of a text, from its beginning.
class Reader {
public:
    explicit Reader(std::string_view text) : text_(text) {}

    bool done() const { return text_.empty(); }
    bool take(char c) {
        if (text_.empty() || text_.front() != c) return false;
        text_.remove_prefix(1);
        return true;
    }
    /// Takes an integer without sign that has a permitted number of digits.
    bool digits(std::size_t least, std::size_t most, std::int64_t& value) {
        std::size_t n = 0;
        value = 0;
        while (n < text_.size() && n < most && text_[n] >= '0' && text_[n] <= '9')
            value = 10 * value + (text_[n++] - '0');
        if (n < least) return false;
        text_.remove_prefix(n);
        return true;
    }

private:
    std::string_view text_;
};

bool read_clock(Reader& reader, Time& time) {
    std::int64_t hours = 0, minutes = 0, seconds = 0, fraction = 0;
    if (!reader.digits(1, 2, hours) || !reader.take(':') || !reader.digits(1, 2, minutes))
        return false;
    if (reader.take(':')) {
        if (!reader.digits(1, 2, seconds)) return false;
        if (reader.take('.')) {
            std::int64_t digit = 0;
            Time unit = one_second / 10;
            for (; reader.digits(1, 1, digit); unit /= 10) fraction += digit * unit;
        }
    }
    if (hours > 23 || minutes > 59 || seconds > 59) return false;
    time = (hours * 3600 + minutes * 60 + seconds) * one_second + fraction;
    return true;
}

bool read_date(Reader reader, Date& date) {
    const bool negative = reader.take('-');
    std::int64_t month = 0, of_month = 0;
    date = {};
    if (!reader.digits(1, 6, date.year) || !reader.take('-') || !reader.digits(1, 2, month) ||
        !reader.take('-') || !reader.digits(1, 2, of_month))
        return false;
    if (negative) date.year = -date.year;
    date.month = static_cast<int>(month);
    date.day = static_cast<int>(of_month);
    if (reader.done()) return true;
    return (reader.take(' ') || reader.take('T')) && read_clock(reader, date.time) && reader.done();
}

/// Returns the double nearest to a quotient; ties to even.
double nearest_quotient(std::int64_t numerator, std::int64_t denominator) {
    if (numerator == 0) return 0;
    const bool negative = numerator < 0;
    const Wide magnitude = negative ? -static_cast<Wide>(numerator) : static_cast<Wide>(numerator);
    // The shifted quotient has at least 63 bits. One more bit, which tells if there is a remainder,
    // is enough to round correctly.
    const int shift = std::countl_zero(static_cast<std::uint64_t>(magnitude)) + 62;
    const Wide shifted = magnitude << shift;
    const Wide divisor = static_cast<Wide>(denominator);
    Wide quotient = shifted / divisor;
    bool rest = shifted % divisor != 0;
    int exponent = -shift;
    while (quotient >> 63 != 0) {
        rest = rest || (quotient & 1) != 0;
        quotient >>= 1;
        ++exponent;
    }
    const auto bits =
        static_cast<std::int64_t>(static_cast<std::uint64_t>(quotient) | (rest ? 1 : 0));
    const double value = std::ldexp(static_cast<double>(bits), exponent);
    return negative ? -value : value;
}

constexpr Time most_time = most_years * 366 * one_day;

/// Multiplies exactly and rounds to the nearest integer; ties away from 0.
std::optional<Time> rounded_product(double value, Time unit) {
    if (!(std::abs(value) * static_cast<double>(unit) < static_cast<double>(most_time)))
        return std::nullopt;
    int exponent = 0;
    constexpr int bits = 53;
    const double mantissa = std::frexp(std::abs(value), &exponent);
    const auto whole = static_cast<std::uint64_t>(std::ldexp(mantissa, bits));
    const Wide product = static_cast<Wide>(whole) * static_cast<Wide>(unit);
    const int shift = bits - exponent;
    Wide rounded = 0;
    if (shift <= 0)
        rounded = product << -shift;
    else if (shift < 127)
        rounded = (product + (Wide{1} << (shift - 1))) >> shift;
    const auto time = static_cast<Time>(rounded);
    return value < 0 ? -time : time;
}

}  // namespace

/// Names of the calendars; the first name of a calendar is the one that is written.
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
    return detail::failure(TW_EARG,
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
    if (!read_date(Reader(text), date))
        return detail::failure(
            TW_EARG, "'{}' is not a date such as \"2000-01-31\" or \"2000-01-31 12:00:00\"", text);
    if (!valid(calendar, date))
        return detail::failure(TW_EARG, "the calendar {} has no date '{}'", calendar_name(calendar),
                               text);
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
    const auto found = rounded_product(seconds, one_second);
    if (!found) return detail::failure(TW_EARG, "{} is not a valid time in seconds", seconds);
    time = *found;
    return {};
}

double TimeUnits::value(Time time) const { return nearest_quotient(time - reference, unit); }

Status TimeUnits::time(double value, Time& time) const {
    const auto found = rounded_product(value, unit);
    if (!found) return detail::failure(TW_EARG, "{} is not a valid time in '{}'", value, text);
    time = reference + *found;
    return {};
}

Status parse_time_units(Calendar calendar, std::string_view text, Time start, TimeUnits& units) {
    static constexpr std::array<std::pair<std::string_view, Time>, 4> names{
        {{"seconds", one_second},
         {"minutes", 60 * one_second},
         {"hours", one_hour},
         {"days", one_day}}};
    static constexpr std::string_view since = " since ";
    const auto found = text.find(since);
    const std::string_view name = text.substr(0, found);
    units.unit = 0;
    for (const auto& [known, length] : names)
        if (known == name) units.unit = length;
    if (found == std::string_view::npos || units.unit == 0)
        return detail::failure(TW_EARG,
                               "'{}' is not a unit of time such as \"days since 1850-01-01\"; the "
                               "units are seconds, minutes, hours and days",
                               text);
    const std::string_view reference = text.substr(found + since.size());
    Date date;
    if (reference == "START") {
        date = date_of(calendar, start);
    } else if (Status status = parse_date(calendar, reference, date); !status.ok()) {
        return status;
    }
    units.reference = time_of(calendar, date);
    units.text = fmt::format("{} since {}", name, date_text(date));
    return {};
}

}  // namespace thalweg::history
