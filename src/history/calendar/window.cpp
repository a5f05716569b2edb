// SPDX-License-Identifier: Apache-2.0
#include "history/calendar/window.hpp"

#include <cstdlib>
#include <map>
#include <utility>

namespace thalweg::history {

namespace {

Window window_at(const WindowRules& rules, const Boundaries& boundaries, std::int64_t k) {
    const bool outer = &boundaries == &rules.boundaries;
    const Time begin = outer ? rules.begin_of(k) : std::max(boundaries.at(k - 1), rules.begin());
    return {k, begin, boundaries.at(k)};
}

/// Tests if window k, perhaps an inner one, lies in the time that the stream covers.
bool active(const WindowRules& rules, const Boundaries& boundaries, std::int64_t k) {
    const Time end = boundaries.at(k);
    const std::int64_t outer = rules.boundaries.window(end, Edge::end);
    const Time outer_end = rules.boundaries.at(outer);
    if (end <= rules.begin() || outer_end > rules.to.value_or(forever - 1)) return false;
    const Time outer_begin = rules.boundaries.at(outer - 1);
    return !rules.drop_partial || outer_begin >= rules.begin() ||
           (rules.change && outer_begin <= rules.change->at);
}

/// Tests if a time lies after the beginning of the stream, so that a window can contain it.
bool after_begin(const WindowRules& rules, Time time) {
    return rules.edge == Edge::end ? time > rules.begin() : time >= rules.begin();
}

/// Tests if this is the first step at or after one of the boundaries.
bool passes(const Boundaries& boundaries, std::optional<Time> previous, Time now) {
    return previous ? boundaries.last(now) > boundaries.last(*previous) : boundaries.has(now);
}

bool passes(Time of_day, std::optional<Time> previous, Time now) {
    const auto days = [&](Time time) { return floor_div(time - of_day, one_day); };
    return previous ? days(now) > days(*previous) : (now - of_day) % one_day == 0;
}

bool filtered(const WindowRules& rules, std::optional<Time> previous, Time now) {
    if (!previous && now > rules.start) previous = rules.start;
    if (rules.sample && !passes(*rules.sample, previous, now)) return false;
    return rules.hours.empty() || std::ranges::any_of(rules.hours, [&](Time of_day) {
               return passes(of_day, previous, now);
           });
}

struct Passage {
    std::vector<Window> before;
    Window window;
    bool active = false, ends = false, crossed = false;
};

/// Number of windows that a step can pass. Otherwise a wrong time could fill the disk.
constexpr std::int64_t most_passed = 1000;

/// Tests if a step's length is known. The run may have begun later than the history.
bool knows_length(const WindowRules& rules, std::optional<Time> previous, Time now) {
    return previous || (rules.step > 0 && now - rules.start <= rules.step);
}

/// @param counts  the samples would count in the window if the length of the step were known
Status covers(const WindowRules& rules, std::optional<Time> previous, Time now,
              const Window& window, bool counts) {
    const auto text = [&](Time time) { return date_text(rules.boundaries.calendar(), time); };
    return failure(TW_EARG, "the {}step from {} to {} covers the whole window from {} to {}{}",
                   counts ? "first " : "", text(previous.value_or(rules.start)), text(now),
                   text(window.begin), text(window.end),
                   counts ? ", and its length is known only with the setting \"step\"" : "");
}

/// Tests if the step at a time completes the window to which the time belongs.
bool completes(const WindowRules& rules, const Boundaries& boundaries, std::int64_t k, Time time) {
    return rules.edge == Edge::end ? time == boundaries.at(k)
                                   : rules.step > 0 && time + rules.step >= boundaries.at(k);
}

Status pass(const WindowRules& rules, const Boundaries& boundaries, std::optional<Time> previous,
            Time now, Passage& passage) {
    const Time from = previous.value_or(rules.start);
    const std::int64_t left = boundaries.window(from, rules.edge);
    const std::int64_t entered = boundaries.window(now, rules.edge);
    const std::int64_t first = std::max(left, boundaries.window(rules.begin(), Edge::end));
    for (std::int64_t k = first; k < entered && !(rules.to && boundaries.at(k) > *rules.to); ++k) {
        if (!active(rules, boundaries, k)) continue;
        const Window window = window_at(rules, boundaries, k);
        const bool begun = k == left && previous && after_begin(rules, from);
        if (k == left && completes(rules, boundaries, k, from)) continue;
        // Other windows have no sample but that of this step.
        const bool begins = k == first;  // the stream begins in this window
        if (!begun && begins && !rules.splits) continue;
        const bool counts = rules.passes || begins;
        if (!begun && !(counts && knows_length(rules, previous, now)))
            return covers(rules, previous, now, window, counts);
        if (std::ssize(passage.before) == most_passed)
            return failure(TW_EARG,
                           "the step from {} to {} passes more than {} windows: are times "
                           "in seconds since the start?",
                           date_text(boundaries.calendar(), from),
                           date_text(boundaries.calendar(), now), most_passed);
        passage.before.push_back(window);
    }
    passage.active = active(rules, boundaries, entered);
    passage.window = window_at(rules, boundaries, entered);
    passage.ends =
        passage.active && after_begin(rules, now) && completes(rules, boundaries, entered, now);
    passage.crossed =
        entered != left && (!passage.before.empty() || passage.active) &&
        (rules.edge == Edge::end ? from < boundaries.at(left) : now != boundaries.at(entered - 1));
    return {};
}

/// Tests if the step that a sample represents lies before the stream's end.
bool until_end(const WindowRules& rules, Time time) {
    if (!rules.to || rules.edge == Edge::end) return time <= rules.to.value_or(time);
    return time < *rules.to && time + rules.step <= *rules.to;
}

void take_instant(const WindowRules& rules, std::optional<Time> previous, Time now, Step& step) {
    const Time begin = rules.begin();
    const bool begins = rules.initial && now == begin;
    if (!previous && now != rules.start) previous = rules.start;
    const auto is_due = [&] {
        if (rules.every == Every::step) return true;
        if (!rules.filters())
            return previous && passes(rules.boundaries, previous, now) &&
                   rules.boundaries.at(rules.boundaries.last(now)) > begin;
        for (Time chosen = rules.last_chosen(now); previous && chosen > std::max(*previous, begin);
             chosen = rules.last_chosen(chosen - 1))
            if (rules.has_instant(chosen)) return true;
        return false;
    };
    step.takes = (!rules.to || now <= *rules.to) && (begins || now > begin) &&
                 filtered(rules, previous, now) && (begins || is_due());
    step.ends = step.takes;
    step.window = {0, now, now};
    step.crossed = step.takes && !begins && rules.every == Every::window &&
                   (rules.filters() ? rules.last_chosen(now)
                                    : rules.boundaries.at(rules.boundaries.last(now))) != now;
}

/// Takes a step of a stream that writes one record per step.
void take_each(const WindowRules& rules, std::optional<Time> previous, Time now, Step& step) {
    const bool known = rules.edge == Edge::end || rules.step > 0;
    if (!known && previous && after_begin(rules, *previous) && (!rules.to || now <= *rules.to))
        step.before.push_back({.window = {0, *previous, now}, .inner = {}, .ends = true});
    step.takes = after_begin(rules, now) && until_end(rules, now) && filtered(rules, previous, now);
    step.ends = step.takes && known;
    if (rules.edge == Edge::end)
        step.window = {0, std::max(previous.value_or(rules.start), rules.begin()), now};
    else
        step.window = {0, now, now + rules.step};
}

/// Divides a step into the parts that lie in inner windows.
void divide(const WindowRules& rules, const Passage& inner, Step& step) {
    const std::vector<StepPart> outer = std::exchange(step.before, {});
    for (const Window& window : inner.before) {
        const std::int64_t k = rules.boundaries.window(window.end, Edge::end);
        step.before.push_back({.window = window_at(rules, rules.boundaries, k),
                               .inner = window,
                               .takes = rules.splits,
                               .inner_ends = true});
    }
    for (const StepPart& part : outer) {
        const auto last = std::ranges::find_if(
            step.before, [&](const StepPart& each) { return each.inner.end == part.window.end; });
        if (last == step.before.end()) {
            step.before.push_back(part);
        } else {
            last->window = part.window;
            last->ends = true;
        }
    }
    step.inner = inner.window;
    step.inner_ends = inner.ends;
}

std::optional<Window> open_of(const WindowRules& rules, const Boundaries& boundaries, Time last) {
    const std::int64_t k = boundaries.window(last, rules.edge);
    if (!active(rules, boundaries, k) || completes(rules, boundaries, k, last)) return {};
    Window open = window_at(rules, boundaries, k);
    open.end = rules.edge == Edge::end ? last : std::min(open.end, last + rules.step);
    return open;
}

}  // namespace

Time WindowRules::begin_of(std::int64_t window) const {
    const Time boundary = boundaries.at(window - 1);
    return std::max(begin(), change && boundary <= change->at ? change->open : boundary);
}

Time WindowRules::last_chosen(Time time) const {
    if (hours.empty()) return sample->at(sample->last(time));
    while (true) {
        Time found = time - one_day;
        for (const Time of_day : hours)
            found = std::max(found, of_day + floor_div(time - of_day, one_day) * one_day);
        if (!sample || sample->has(found)) return found;
        time = found - 1;
    }
}

bool WindowRules::has_instant(Time chosen) const {
    return every != Every::window ||
           boundaries.last(chosen) > boundaries.last(last_chosen(chosen - 1));
}

Status take_step(const WindowRules& rules, std::optional<Time> previous, Time now, Step& step) {
    step = {};
    // Times are rounded to microseconds, so steps may differ by one: a third of a second, for
    // example.
    if (rules.edge == Edge::begin && rules.step > 0 && previous &&
        std::abs(now - *previous - rules.step) > 1)
        return failure(TW_EARG,
                       "the step from {} to {} is not as long as the model's step, {} seconds",
                       date_text(rules.boundaries.calendar(), *previous),
                       date_text(rules.boundaries.calendar(), now),
                       static_cast<double>(rules.step) / static_cast<double>(one_second));
    if (rules.every == Every::once) {
        step.takes = step.ends = !previous;
        step.window = {0, now, now};
        return {};
    }
    step.from = previous.value_or(rules.start);
    Passage passage;
    if (rules.every == Every::window) {
        if (Status status = pass(rules, rules.boundaries, previous, now, passage); !status.ok())
            return status;
    }
    if (rules.instant) {
        take_instant(rules, previous, now, step);
        return {};
    }
    const bool begins = rules.takes_begin && now == rules.begin();
    if (rules.every == Every::step) {
        take_each(rules, previous, now, step);
        step.takes = step.takes || begins;
        return {};
    }
    for (const Window& window : passage.before)
        step.before.push_back({.window = window, .inner = {}, .takes = rules.splits, .ends = true});
    step.window = passage.window;
    step.ends = passage.ends;
    step.crossed = passage.crossed;
    step.takes =
        begins || (passage.active && after_begin(rules, now) && filtered(rules, previous, now));
    if (!rules.inner) return {};
    Passage inner;
    if (Status status = pass(rules, *rules.inner, previous, now, inner); !status.ok())
        return status;
    step.crossed = step.crossed || inner.crossed;
    divide(rules, inner, step);
    return {};
}

std::optional<Window> open_window(const WindowRules& rules, Time last,
                                  std::optional<Window>& inner) {
    inner.reset();
    if (rules.instant || rules.every == Every::once || !after_begin(rules, last)) return {};
    if (rules.every == Every::step) {
        if (rules.edge == Edge::end || rules.step > 0 || !until_end(rules, last)) return {};
        return Window{0, last, last};
    }
    if (rules.inner) inner = open_of(rules, *rules.inner, last);
    return open_of(rules, rules.boundaries, last);
}

std::int64_t file_period(const Boundaries& files, const Window& record, Time begin, bool next) {
    const bool instant = record.begin == record.end;
    const bool later = instant && (next || record.end == begin);
    return files.window(record.end, later ? Edge::begin : Edge::end);
}

double DurationWeight::next(Time begin, Time now) {
    const Time duration = now - std::max(previous, begin);
    previous = now;
    if (unit == 0) unit = duration;
    return duration == unit ? 1 : static_cast<double>(duration) / static_cast<double>(unit);
}

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
    (void)Boundaries::make({calendar}, bin_, {}, made);  // cannot fail: bins divide the cycle
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
