// Finds times of a stream that no record or sample can have.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "history/parse.hpp"

namespace thalweg::history {

namespace {

std::string hour_text(Time of_day) {
    return fmt::format("\"{:02}:{:02}\"", of_day / one_hour, of_day % one_hour / (one_hour / 60));
}

/// Finds times of the day at which no sample, or no instant, can be.
void check_hours(Keys& keys, const StreamTable& stream, const WindowRules& rules) {
    const auto fail = [&](Time hour, const std::string& why) {
        keys.fail("hours", fmt::format("'hours': {} has no record: {}", hour_text(hour), why));
    };
    for (const Time hour : rules.hours) {
        if (rules.sample && (hour - rules.sample->at(0)) % rules.sample->daily() != 0)
            fail(hour, fmt::format("no multiple of sample = \"{}\" is at this time",
                                   duration_text(*stream.sample)));
        if (!rules.instant || rules.every != Every::window) continue;
        Time before = hour - one_day;
        for (const Time other : rules.hours)
            before = std::max(before, other < hour ? other : other - one_day);
        const auto passed = [&](Time time) {
            return floor_div(time - rules.boundaries.at(0), rules.boundaries.daily());
        };
        if (passed(hour) == passed(before))
            fail(hour, fmt::format("a record is the first sample at or after a multiple of \"{}\", "
                                   "which is that at {}: take a shorter 'every'",
                                   duration_text(stream.duration),
                                   hour_text((before + one_day) % one_day)));
    }
}

/// Tests if a record can lie between the begin and the end of a stream.
bool has_record(const WindowRules& rules) {
    const Time begin = rules.begin(), end = *rules.to;
    if (end <= begin) return false;
    if (rules.instant && rules.initial) return true;
    if (rules.filters() && (rules.instant || rules.every != Every::window)) {
        Time chosen = rules.last_chosen(end);
        while (chosen > begin && rules.instant && !rules.has_instant(chosen))
            chosen = rules.last_chosen(chosen - 1);
        return chosen > begin;
    }
    if (rules.every != Every::window) return true;
    std::int64_t first = rules.boundaries.last(begin) + 1;
    if (rules.drop_partial && rules.boundaries.at(first - 1) < begin) ++first;
    return rules.boundaries.at(first) <= end;
}

}  // namespace

void check_records(Keys& keys, const StreamTable& stream, const WindowRules& rules) {
    const std::size_t before = keys.problems().size();
    check_hours(keys, stream, rules);
    if (keys.problems().size() != before || !rules.to || rules.every == Every::once ||
        has_record(rules))
        return;
    const Calendar calendar = rules.boundaries.calendar();
    keys.fail(
        "to",
        fmt::format("'to': the stream has no record: {} between {} and {}",
                    *rules.to <= rules.begin()     ? "there is no time"
                    : rules.every != Every::window ? "no time of 'hours' or 'sample' is"
                    : rules.instant
                        ? fmt::format("no instant of \"{}\" is", duration_text(stream.duration))
                        : fmt::format("no window of \"{}\" ends", duration_text(stream.duration)),
                    date_text(calendar, rules.begin()), date_text(calendar, *rules.to)));
}

}  // namespace thalweg::history
