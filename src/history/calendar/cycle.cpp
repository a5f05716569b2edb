// SPDX-License-Identifier: Apache-2.0
#include "history/calendar/cycle.hpp"

#include <algorithm>
#include <map>

namespace thalweg::history {

/// Returns the day of the year, from 0, counted in a leap year if the calendar has leap years.
static int day_of_year(Calendar calendar, const Date& date) {
    const auto day = [&](int month, int of_month) {
        return time_of(calendar, {2000, month, of_month, 0}) / one_day;
    };
    return static_cast<int>(day(date.month, date.day) - day(1, 1));
}

int Cycle::bins(Calendar calendar) const {
    if (kind_ == Kind::none) return 1;
    if (kind_ == Kind::day) return static_cast<int>(86400 / bin_.count);
    if (bin_.unit == Unit::day)
        return day_of_year(calendar, {2000, 12, last_day(calendar, 2000, 12), 0}) + 1;
    return bin_.unit == Unit::season ? 4 : 12;
}

Boundaries Cycle::boundaries(Calendar calendar) const {
    Boundaries made;
    (void)Boundaries::make(calendar, bin_, {}, 0, 0, made);  // cannot fail: bins divide the cycle
    return made;
}

int Cycle::bin_at(Calendar calendar, Time begin) const {
    if (kind_ == Kind::day)
        return static_cast<int>((begin - floor_div(begin, one_day) * one_day) /
                                (bin_.count * one_second));
    const Date date = date_of(calendar, begin);
    if (bin_.unit == Unit::day) return day_of_year(calendar, date);
    return bin_.unit == Unit::season ? date.month % 12 / 3 : date.month - 1;
}

Step Cycle::in_bin(const Boundaries& boundaries, int bin, Step step) const {
    const auto choose = [&](StepPart& part) {
        part.takes = part.takes &&
                     bin_at(boundaries.calendar(), boundaries.at(part.inner.number - 1)) == bin;
    };
    std::ranges::for_each(step.before, choose);
    choose(step);
    return step;
}

std::vector<WindowPart> Cycle::parts(Calendar calendar, const Window& window,
                                     const std::function<bool(int)>& wanted) const {
    if (kind_ == Kind::none) return {{-1, window, window.end, true}};
    const Boundaries all = boundaries(calendar);
    std::vector<WindowPart> found;
    std::map<int, std::size_t> places;
    const std::int64_t last = all.window(window.end, Edge::end);
    for (std::int64_t k = all.window(window.begin, Edge::begin); k <= last; ++k) {
        const int bin = bin_at(calendar, all.at(k - 1));
        const Time end = std::min(all.at(k), window.end);
        if (const auto known = places.find(bin); known != places.end()) {
            found[known->second].end = end;
        } else if (wanted(bin)) {
            places.emplace(bin, found.size());
            const Time begin = std::max(all.at(k - 1), window.begin);
            found.push_back({bin, {window.number, begin, end}, end, false});
        }
    }
    if (!found.empty()) found.back().last = true;
    return found;
}

}  // namespace thalweg::history
