// SPDX-License-Identifier: Apache-2.0
#include "history/calendar/duration.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>

namespace thalweg::history {

namespace {

/// Units in the order of enum Unit. A length of 0 depends on the calendar or the model; it may be
/// given in months.
struct UnitRow {
    std::string_view name;
    Time length = 0;
    std::int64_t months = 0;
};
constexpr std::array<UnitRow, 9> units{{{"step"},
                                        {"second", one_second},
                                        {"minute", 60 * one_second},
                                        {"hour", one_hour},
                                        {"day", one_day},
                                        {"week", 7 * one_day},
                                        {"month", 0, 1},
                                        {"season", 0, 3},
                                        {"year", 0, 12}}};

bool parse_count(std::string_view text, std::int64_t& count) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    return error == std::errc() && end == text.data() + text.size() && count >= 1;
}

bool parse_unit(std::string_view text, Unit& unit) {
    const bool plural = text.ends_with('s');
    const auto row = std::ranges::find(units, text.substr(0, text.size() - plural), &UnitRow::name);
    if (row != units.end()) unit = static_cast<Unit>(row - units.begin());
    return row != units.end();
}

/// Reads P1M, P1Y, P5D, P1W, PT6H, PT30M, PT10S.
bool parse_iso(std::string_view text, Duration& duration) {
    if (text.size() < 3 || text.front() != 'P') return false;
    const bool clock = text[1] == 'T';
    const std::string_view letters = clock ? "SMH" : "DWMY";
    constexpr std::array<Unit, 3> clock_units{Unit::second, Unit::minute, Unit::hour};
    constexpr std::array<Unit, 4> date_units{Unit::day, Unit::week, Unit::month, Unit::year};
    const auto found = letters.find(text.back());
    if (found == std::string_view::npos) return false;
    duration.unit = clock ? clock_units[found] : date_units[found];
    const std::size_t begin = clock ? 2 : 1;
    return parse_count(text.substr(begin, text.size() - begin - 1), duration.count);
}

constexpr Time longest_duration = most_years * 365 * one_day;

bool is_short(const Duration& duration) {
    const std::int64_t months = months_in(duration.unit);
    const Time length = months > 0 ? months * 30 * one_day : unit_length(duration.unit);
    return length == 0 ? duration.count <= INT32_MAX : duration.count <= longest_duration / length;
}

}  // namespace

Time unit_length(Unit unit) { return units[static_cast<std::size_t>(unit)].length; }

std::int64_t months_in(Unit unit) { return units[static_cast<std::size_t>(unit)].months; }

Status parse_duration(std::string_view text, Duration& duration) {
    const auto space = text.find(' ');
    duration.count = 1;
    const bool good =
        parse_iso(text, duration) ||
        (space == std::string_view::npos ? parse_unit(text, duration.unit)
                                         : parse_count(text.substr(0, space), duration.count) &&
                                               parse_unit(text.substr(space + 1), duration.unit));
    if (!good || !is_short(duration))
        return failure(
            TW_EARG,
            "'{}' is not a duration such as \"1 month\", \"6 hours\" or \"P1M\"; the units are "
            "seconds, minutes, hours, days, weeks, months, seasons, years and steps",
            text);
    return {};
}

Status parse_interval(std::string_view text, Interval& interval) {
    const auto to = text.find(" to ");
    interval.until.reset();
    if (to != std::string_view::npos)
        if (Status status = parse_duration(text.substr(to + 4), interval.until.emplace());
            !status.ok())
            return status;
    return parse_duration(text.substr(0, to), interval.every);
}

Status parse_time_units(Calendar calendar, std::string_view text, Time start, TimeUnits& units) {
    static constexpr std::string_view since = " since ";
    const auto found = text.find(since);
    const std::string_view name = text.substr(0, found);
    Unit unit{};
    if (found == std::string_view::npos || !name.ends_with('s') || !parse_unit(name, unit) ||
        unit == Unit::step || unit > Unit::day)
        return failure(
            TW_EARG,
            "'{}' is not a unit of time such as \"days since 1850-01-01\"; the units are "
            "seconds, minutes, hours and days",
            text);
    const std::string_view reference = text.substr(found + since.size());
    Date date = date_of(calendar, start);
    if (reference != "START")
        if (Status status = parse_date(calendar, reference, date); !status.ok()) return status;
    units = {unit_length(unit), time_of(calendar, date),
             fmt::format("{} since {}", name, date_text(date))};
    return {};
}

std::string duration_text(const Duration& duration) {
    return fmt::format("{} {}{}", duration.count,
                       units[static_cast<std::size_t>(duration.unit)].name,
                       duration.count == 1 ? "" : "s");
}

std::string interval_text(const Interval& interval) {
    return duration_text(interval.every) +
           (interval.until ? " to " + duration_text(*interval.until) : "");
}

/// Finds a date from which windows are counted, such as January 1, so that they fit the calendar.
/// @return false if there is none
static bool calendar_origin(Calendar calendar, const Duration& every, Time length, Time start,
                            Date& origin) {
    const Date begin = date_of(calendar, start);
    origin = {};
    switch (every.unit) {
        case Unit::step: origin = begin; return true;
        case Unit::day:
        case Unit::week:
            if (every.unit == Unit::week || every.count > 1)
                origin = {begin.year, begin.month, begin.day, 0};
            return true;
        case Unit::month: return 12 % every.count == 0;
        case Unit::season: origin.month = 12; return 4 % every.count == 0;
        case Unit::year:
            if (every.count > 1) origin.year = begin.year;
            return true;
        default: return one_day % length == 0;
    }
}

Status Boundaries::make(const RunTimes& run, const Duration& every, const Anchor& anchor,
                        Boundaries& made) {
    const auto [calendar, start, step] = run;
    if (every.unit == Unit::step && step <= 0)
        return failure(TW_ESETTING, "'{}' needs the length of the model's step, which is not given",
                       duration_text(every));
    if (every.unit == Unit::step && every.count > longest_duration / step)
        return failure(TW_ESETTING, "'{}' is longer than {} years", duration_text(every),
                       most_years);
    made = {};
    made.calendar_ = calendar;
    if (const std::int64_t months = months_in(every.unit); months > 0) {
        made.months_ = every.count * months;
        // In some calendars, all months or all years have the same length.
        made.length_ = calendar == Calendar::days_360 ? made.months_ * 30 * one_day
                       : made.months_ % 12 == 0 && calendar == Calendar::noleap
                           ? made.months_ / 12 * 365 * one_day
                       : made.months_ % 12 == 0 && calendar == Calendar::all_leap
                           ? made.months_ / 12 * 366 * one_day
                           : 0;
    } else {
        made.length_ = every.count * (every.unit == Unit::step ? step : unit_length(every.unit));
    }
    if (anchor.kind == Anchor::Kind::date)
        made.date_ = anchor.date;
    else if (anchor.kind == Anchor::Kind::start)
        made.date_ = date_of(calendar, start);
    else if (!calendar_origin(calendar, every, made.length_, start, made.date_))
        return failure(TW_ESETTING,
                       "'{}' does not divide the {} evenly: give an anchor, \"start\" or a "
                       "date, from which it is counted",
                       duration_text(every), made.months_ > 0 ? "year" : "day");
    made.origin_ = time_of(calendar, made.date_);
    return {};
}

Status Boundaries::make(const RunTimes& run, std::span<const Interval> intervals,
                        const Anchor& anchor, Boundaries& made) {
    if (intervals.size() == 1) return make(run, intervals.front().every, anchor, made);
    const auto date = [](const Date& day) { return Anchor{Anchor::Kind::date, day}; };
    const Date origin =
        anchor.kind == Anchor::Kind::date ? anchor.date : date_of(run.calendar, run.start);
    Time begin = time_of(run.calendar, origin);
    std::vector<Boundaries> chain(intervals.size());
    for (std::size_t i = 0; i < intervals.size(); ++i) {
        const auto& [every, until] = intervals[i];
        const Anchor from = date(date_of(run.calendar, begin));
        if (Status status = make(run, every, from, chain[i]); !status.ok()) return status;
        if (!until) break;
        Boundaries ends;
        if (Status status = make(run, *until, date(origin), ends); !status.ok()) return status;
        if (ends.at(1) <= begin || !chain[i].has(ends.at(1)))
            return failure(TW_ESETTING, "'{}' does not end after a whole number of intervals",
                           interval_text(intervals[i]));
        begin = ends.at(1);
        chain[i].last_ = chain[i].last(begin);
    }
    for (std::size_t i = chain.size() - 1; i > 0; --i)
        chain[i - 1].next_ = std::make_shared<const Boundaries>(std::move(chain[i]));
    made = std::move(chain.front());
    return {};
}

Boundaries Boundaries::at_times(Calendar calendar, std::vector<Time> times) {
    Boundaries made;
    made.calendar_ = calendar;
    made.times_ = std::move(times);
    return made;
}

Time Boundaries::at(std::int64_t k) const {
    if (!times_.empty()) return k < 0 ? -forever : k < std::ssize(times_) ? times_[k] : forever;
    if (next_ && k > last_) return next_->at(k - last_);
    if (length_ > 0) return origin_ + k * length_;
    return time_of(calendar_, add_months(calendar_, date_, k * months_));
}

std::int64_t Boundaries::window(Time time, Edge edge) const {
    // Times are integers, so [a, b) contains t if and only if (a, b] contains t + 1.
    if (edge == Edge::begin) ++time;
    if (!times_.empty()) return std::ranges::lower_bound(times_, time) - times_.begin();
    if (next_ && time > at(last_)) return last_ + next_->window(time, Edge::end);
    if (length_ > 0) return floor_div(time - 1 - origin_, length_) + 1;
    const Date date = date_of(calendar_, time);
    std::int64_t k = floor_div((date.year - date_.year) * 12 + date.month - date_.month, months_);
    while (at(k) < time) ++k;
    while (at(k - 1) >= time) --k;
    return k;
}

Time Boundaries::daily() const {
    const Time own = length_ > 0 ? std::gcd(length_, one_day) : one_day;
    return next_ ? std::gcd(std::gcd(own, next_->daily()), next_->at(0) - at(0)) : own;
}

bool Boundaries::refined_by(const Boundaries& finer) const {
    if (!times_.empty())
        return std::ranges::all_of(times_, [&](Time time) { return finer.has(time); });
    if (next_ && !next_->refined_by(finer)) return false;
    if (months_ > 0 && finer.months_ > 0) {
        const std::int64_t apart =
            (date_.year - finer.date_.year) * 12 + date_.month - finer.date_.month;
        return months_ % finer.months_ == 0 && apart % finer.months_ == 0 &&
               date_.day == finer.date_.day && date_.time == finer.date_.time;
    }
    if (finer.length_ == 0) return false;
    if (length_ > 0)
        return length_ % finer.length_ == 0 && (origin_ - finer.origin_) % finer.length_ == 0;
    return one_day % finer.length_ == 0 && (origin_ - finer.origin_) % finer.length_ == 0;
}

}  // namespace thalweg::history
