// Follows the steps of streams for check_windows.py. Each line of standard input is a stream:
//
//   CALENDAR START EVERY ANCHOR STEP STEPS INSTANT INITIAL DROP EDGE KNOWN SPLITS FROM TO
//
// START, FROM and TO are dates without blanks, EVERY is a duration of ISO 8601, STEP is in
// microseconds, EDGE is end or begin, and '-' stands for a missing value; KNOWN says if the length
// of the step is known. The answer is one line: OK, COVERED or REFUSED, followed, for each record,
// by its bounds in microseconds since the start, and its number of samples.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>

#include "history/calendar/window.hpp"

using namespace thalweg::history;

namespace {

std::optional<Time> read_time(Calendar calendar, const std::string& text) {
    if (text == "-") return {};
    Date date;
    if (!parse_date(calendar, text, date).ok()) std::exit(2);
    return time_of(calendar, date);
}

}  // namespace

int main() {
    for (std::string line; std::getline(std::cin, line);) {
        std::istringstream words(line);
        std::string name, start, every, anchor, edge, from, to;
        Time length = 0;
        std::int64_t steps = 0;
        bool known = false;
        WindowRules rules;
        words >> name >> start >> every >> anchor >> length >> steps >> rules.instant >>
            rules.initial >> rules.drop_partial >> edge >> known >> rules.splits >> from >> to;
        Calendar calendar{};
        Duration duration;
        if (!words || !parse_calendar(name, calendar).ok() || !parse_duration(every, duration).ok())
            return 2;
        rules.start = *read_time(calendar, start);
        rules.from = read_time(calendar, from);
        rules.to = read_time(calendar, to);
        rules.edge = edge == "end" ? Edge::end : Edge::begin;
        rules.step = known ? length : 0;
        rules.passes = rules.splits;
        Anchor counted;
        if (anchor == "start") {
            counted.kind = Anchor::Kind::start;
        } else if (anchor != "calendar") {
            counted.kind = Anchor::Kind::date;
            counted.date = date_of(calendar, *read_time(calendar, anchor));
        }
        if (!Boundaries::make({calendar, rules.start}, duration, counted, rules.boundaries).ok()) {
            std::puts("REFUSED");
            continue;
        }
        std::ostringstream records;
        std::int64_t samples = 0;
        const auto record = [&](const Window& window) {
            records << ' ' << window.begin - rules.start << ' ' << window.end - rules.start << ' '
                    << samples;
            samples = 0;
        };
        std::optional<Time> previous;
        bool good = true;
        for (std::int64_t i = 0; i <= steps && good; ++i) {
            const Time now = rules.start + i * length;
            Step step;
            good = take_step(rules, previous, now, step).ok();
            if (!good) break;
            for (const StepPart& part : step.before) {
                samples += part.takes;
                record(part.window);
            }
            samples += step.takes;
            if (step.ends) record(step.window);
            previous = now;
        }
        std::printf("%s%s\n", good ? "OK" : "COVERED", records.str().c_str());
    }
    return 0;
}
