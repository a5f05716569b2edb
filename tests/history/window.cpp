// SPDX-License-Identifier: Apache-2.0
#include "history/calendar/window.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "history/dates.hpp"

namespace thalweg::history {
namespace {

Boundaries boundaries(Calendar calendar, const char* every, const char* anchor, Time start,
                      Time step = 0) {
    Duration duration;
    EXPECT_TRUE(parse_duration(every, duration).ok()) << every;
    Anchor from;
    if (std::string(anchor) == "start") from.kind = Anchor::Kind::start;
    if (anchor[0] >= '0' && anchor[0] <= '9') {
        from.kind = Anchor::Kind::date;
        EXPECT_TRUE(parse_date(calendar, anchor, from.date).ok());
    }
    Boundaries made;
    const Status status = Boundaries::make({calendar, start, step}, duration, from, made);
    EXPECT_TRUE(status.ok()) << status.text;
    return made;
}

/// A stream, and the records that its steps have completed.
struct Stream {
    Calendar calendar;
    WindowRules rules;
    std::optional<Time> previous;
    std::vector<Window> records;
    std::vector<Time> used;
    int crossings = 0, inner_records = 0;
    Status status;

    Stream(Calendar of, const char* start, const char* every, const char* anchor = "calendar")
        : calendar(of) {
        rules.start = at(calendar, start);
        rules.boundaries = boundaries(calendar, every, anchor, rules.start);
    }
    /// Replaces the windows by a single one.
    void whole() {
        rules.boundaries =
            Boundaries::at_times(calendar, {rules.begin(), rules.to.value_or(forever - 1)});
    }
    void step(Time now) {
        Step taken;
        status = take_step(rules, previous, now, taken);
        if (!status.ok()) return;
        for (const StepPart& part : taken.before) {
            if (part.ends) records.push_back(part.window);
            inner_records += part.inner_ends;
        }
        inner_records += taken.inner_ends;
        if (taken.takes) used.push_back(now);
        if (taken.ends) records.push_back(taken.window);
        crossings += taken.crossed;
        previous = now;
    }
    /// Takes steps up to an end, including the one that ends there.
    void run(Time length, Time end) {
        for (Time now = rules.start + length; now <= end && status.ok(); now += length) step(now);
    }
    std::optional<Window> open() const {
        std::optional<Window> inner;
        return open_window(rules, *previous, inner);
    }
    double days(Time time, const char* since) const {
        return static_cast<double>(time - at(calendar, since)) / static_cast<double>(one_day);
    }
};

TEST(Window, Durations) {
    const std::vector<std::pair<const char*, Duration>> good{
        {"1 month", {1, Unit::month}},   {"month", {1, Unit::month}},
        {"P1M", {1, Unit::month}},       {"5 days", {5, Unit::day}},
        {"PT6H", {6, Unit::hour}},       {"P10Y", {10, Unit::year}},
        {"PT30M", {30, Unit::minute}},   {"3 steps", {3, Unit::step}},
        {"1 second", {1, Unit::second}}, {"PT1S", {1, Unit::second}},
        {"2 weeks", {2, Unit::week}}};
    for (const auto& [text, expected] : good) {
        Duration read;
        EXPECT_TRUE(parse_duration(text, read).ok()) << text;
        EXPECT_EQ(read, expected) << text;
    }
    for (const char* text :
         {"", "0 days", "-1 day", "1.5 days", "1  day", "day 1", "P", "PT", "P1H", "PT1D", "P1M2D",
          "monthly", "99999999999999999999 days", "s", "1000000000000 years", "1 day "}) {
        Duration read;
        EXPECT_EQ(parse_duration(text, read).code, TW_EARG) << text;
    }
    EXPECT_EQ(duration_text({1, Unit::month}), "1 month");
    EXPECT_EQ(duration_text({5, Unit::day}), "5 days");
}

// Steps that cross a boundary, and steps that are longer than a window.
TEST(Window, CrossedAndCovered) {
    Stream stream(Calendar::noleap, "2000-01-01", "1 hour");
    for (int step = 1; step <= 9; ++step) {
        stream.step(stream.rules.start + step * 7 * 60 * one_second);
        EXPECT_EQ(stream.records.size(), step < 9 ? 0u : 1u);
    }
    EXPECT_EQ(stream.crossings, 1);
    EXPECT_EQ(stream.records[0].end, stream.rules.start + one_hour);
    Stream covering(Calendar::noleap, "2000-01-01", "1 hour");
    covering.step(covering.rules.start + 3 * one_hour);
    EXPECT_EQ(covering.status.code, TW_EARG);
    EXPECT_EQ(covering.status.text,
              "the step from 2000-01-01 00:00:00 to 2000-01-01 03:00:00 covers the whole window "
              "from 2000-01-01 00:00:00 to 2000-01-01 01:00:00");
    Stream whole(Calendar::noleap, "2000-01-01", "1 hour");
    whole.run(one_hour, whole.rules.start + one_day);
    EXPECT_EQ(whole.records.size(), 24u);
    EXPECT_EQ(whole.crossings, 0);
}

// The samples of a step that passes whole windows are refused if variables of the stream do not
// count in them, and if the step passes very many.
TEST(Window, SplitSamples) {
    Stream mixed(Calendar::noleap, "2000-01-01", "3 hours");
    mixed.rules.splits = true;
    mixed.step(mixed.rules.start + 2 * one_hour);
    mixed.step(mixed.rules.start + 7 * one_hour);
    EXPECT_EQ(mixed.status.code, TW_EARG);
    Stream far(Calendar::noleap, "2000-01-01", "3 hours");
    far.rules.splits = far.rules.passes = true;
    far.step(far.rules.start + 2 * one_hour);
    far.step(far.rules.start + 365 * one_day);
    EXPECT_EQ(far.status.code, TW_EARG);
    EXPECT_NE(far.status.text.find("since the start?"), std::string::npos);
}

// The length of the first step is known only if that of the model's steps is.
TEST(Window, FirstStepOverAWindow) {
    for (const char* start : {"2000-01-01", "2000-01-31 12:00"})
        for (const Time known : {Time{0}, one_day, 40 * one_day}) {
            Stream stream(Calendar::noleap, start, "1 month");
            stream.rules.splits = stream.rules.passes = true;
            stream.rules.step = known;
            stream.step(stream.rules.start + (start[8] == '0' ? 40 : 1) * one_day);
            const bool good = known >= (start[8] == '0' ? 40 : 1) * one_day;
            EXPECT_EQ(stream.status.code, good ? TW_OK : TW_EARG) << start;
            EXPECT_EQ(stream.records.size(), good ? 1u : 0u);
            if (!good) {
                EXPECT_NE(stream.status.text.find("only with the setting \"step\""),
                          std::string::npos);
            }
        }
}

// The last sample of a stream represents a step after the stream's end.
TEST(Window, LabelledByTheBeginUntil) {
    for (const Time known : {Time{0}, 6 * one_hour})
        for (const Every every : {Every::window, Every::step}) {
            Stream stream(Calendar::noleap, "2000-01-01", "1 day");
            stream.rules.edge = Edge::begin;
            stream.rules.step = known;
            stream.rules.every = every;
            stream.rules.to = stream.rules.start + one_day;
            stream.whole();
            stream.step(stream.rules.start);
            stream.run(6 * one_hour, stream.rules.start + 2 * one_day);
            EXPECT_EQ(stream.used.size(), 4u);
            ASSERT_EQ(stream.records.size(), every == Every::window ? 1u : 4u);
            EXPECT_EQ(stream.records[0].begin, stream.rules.start);
            EXPECT_EQ(stream.records.back().end, *stream.rules.to);
            EXPECT_FALSE(stream.open());
        }
    Stream open(Calendar::noleap, "2000-01-01", "1 day");
    open.rules.edge = Edge::begin;
    open.rules.step = 6 * one_hour;
    open.whole();
    open.step(open.rules.start);
    EXPECT_EQ(open.open()->end, open.rules.start + 6 * one_hour);
}

TEST(Window, StepsOfAnotherLength) {
    Stream stream(Calendar::noleap, "2000-01-01", "1 hour");
    stream.rules.edge = Edge::begin;
    stream.rules.step = one_hour / 2;
    stream.step(stream.rules.start);
    stream.step(stream.rules.start + one_hour / 4);
    EXPECT_EQ(stream.status.code, TW_EARG);
    EXPECT_EQ(stream.status.text,
              "the step from 2000-01-01 00:00:00 to 2000-01-01 00:15:00 is not as long as the "
              "model's step, 1800 seconds");
}

TEST(Window, EveryStepOnceAndRun) {
    Stream each(Calendar::noleap, "2000-01-01", "1 day");
    each.rules.every = Every::step;
    each.run(one_hour, each.rules.start + 3 * one_hour);
    ASSERT_EQ(each.records.size(), 3u);
    EXPECT_EQ(each.records[2].begin, each.rules.start + 2 * one_hour);
    EXPECT_EQ(each.records[2].end, each.rules.start + 3 * one_hour);
    Stream once(Calendar::noleap, "2000-01-01", "1 day");
    once.rules.every = Every::once;
    once.step(once.rules.start);
    once.run(one_hour, once.rules.start + 3 * one_hour);
    EXPECT_EQ(once.records.size(), 1u);
    Stream whole(Calendar::noleap, "2000-01-01", "1 day");
    whole.rules.inner = whole.rules.boundaries;
    whole.whole();
    whole.run(one_hour, whole.rules.start + 49 * one_hour);
    EXPECT_TRUE(whole.records.empty());
    EXPECT_EQ(whole.inner_records, 2);
    EXPECT_EQ(*whole.open(), (Window{1, whole.rules.start, whole.rules.start + 49 * one_hour}));
    whole.rules.to = whole.rules.start + 50 * one_hour;
    whole.whole();
    whole.run(50 * one_hour, whole.rules.start + 50 * one_hour);
    EXPECT_EQ(whole.records.size(), 1u);
    EXPECT_FALSE(whole.open());
}

TEST(Window, Filters) {
    Stream stream(Calendar::noleap, "2000-01-01", "1 day");
    stream.rules.sample = boundaries(Calendar::noleap, "6 hours", "calendar", 0);
    stream.run(one_hour, stream.rules.start + one_day);
    EXPECT_EQ(stream.used.size(), 4u);
    EXPECT_EQ(stream.records.size(), 1u);
    Stream noon(Calendar::noleap, "2000-01-01", "1 month");
    noon.rules.hours = {12 * one_hour, 18 * one_hour};
    noon.run(one_hour, noon.rules.start + 2 * one_day);
    EXPECT_EQ(noon.used.size(), 4u);
    EXPECT_EQ(noon.used[0], noon.rules.start + 12 * one_hour);
}

// With a filter, an instant is the first chosen sample at or after the boundary.
TEST(Window, FilteredInstants) {
    const auto days = [](const char* every, std::vector<Time> hours, const char* sample = nullptr,
                         Time step = one_hour) {
        Stream stream(Calendar::noleap, "2000-01-01", every);
        stream.rules.instant = true;
        for (const Time hour : hours) stream.rules.hours.push_back(hour * one_hour);
        if (sample != nullptr)
            stream.rules.sample =
                boundaries(Calendar::noleap, sample, "calendar", stream.rules.start);
        stream.step(stream.rules.start);
        stream.run(step, stream.rules.start + 2 * one_day);
        std::vector<double> found;
        for (const Window& record : stream.records)
            found.push_back(stream.days(record.end, "2000-01-01"));
        return found;
    };
    using Days = std::vector<double>;
    EXPECT_EQ(days("1 day", {6}), (Days{0.25, 1.25}));
    EXPECT_EQ(days("1 day", {18, 6}), (Days{0.25, 1.25}));
    EXPECT_EQ(days("1 day", {0}), (Days{1, 2}));
    EXPECT_EQ(days("6 hours", {6, 18}), (Days{0.25, 0.75, 1.25, 1.75}));
    EXPECT_EQ(days("12 hours", {6, 18}), (Days{0.25, 0.75, 1.25, 1.75}));
    EXPECT_EQ(days("1 day", {}, "12 hours"), (Days{1, 2}));
    EXPECT_EQ(days("1 hour", {}, "12 hours"), (Days{0.5, 1, 1.5, 2}));
    EXPECT_EQ(days("1 day", {12}, "6 hours"), (Days{0.5, 1.5}));
    EXPECT_EQ(days("1 month", {6}), (Days{0.25}));
    EXPECT_EQ(days("1 day", {6}, nullptr, 5 * one_hour), (Days{10 / 24., 30 / 24.}));
}

TEST(Window, BoundariesThatDoNotFit) {
    const Calendar calendar = Calendar::standard;
    const Time start = at(calendar, "2000-03-05 06:00");
    for (const char* every : {"5 hours", "7 minutes", "48 hours", "5 months", "3 steps"}) {
        Duration duration;
        ASSERT_TRUE(parse_duration(every, duration).ok());
        Boundaries made;
        EXPECT_EQ(Boundaries::make({calendar, start}, duration, {}, made).code, TW_ESETTING);
        if (duration.unit != Unit::step) boundaries(calendar, every, "start", start);
    }
    Boundaries made;
    EXPECT_EQ(
        Boundaries::make({calendar, start, one_day}, {200'000'000, Unit::step}, {}, made).code,
        TW_ESETTING);
    EXPECT_EQ(boundaries(calendar, "3 days", "calendar", start).at(0), at(calendar, "2000-03-05"));
    EXPECT_EQ(boundaries(calendar, "10 years", "calendar", start).at(0),
              at(calendar, "2000-01-01"));
    EXPECT_TRUE(
        boundaries(calendar, "3 months", "calendar", start).has(at(calendar, "2000-04-01")));
    EXPECT_EQ(boundaries(calendar, "3 steps", "calendar", start, one_hour).at(1),
              start + 3 * one_hour);
}

TEST(Window, Refinement) {
    const auto refined = [](Calendar calendar, const char* coarse, const char* fine) {
        const Time start = at(calendar, "2000-01-01");
        return boundaries(calendar, coarse, "calendar", start)
            .refined_by(boundaries(calendar, fine, "calendar", start));
    };
    EXPECT_TRUE(refined(Calendar::standard, "1 month", "1 day"));
    EXPECT_TRUE(refined(Calendar::standard, "1 month", "6 hours"));
    EXPECT_TRUE(refined(Calendar::standard, "1 year", "3 months"));
    EXPECT_TRUE(refined(Calendar::noleap, "1 year", "5 days"));
    EXPECT_TRUE(refined(Calendar::days_360, "1 month", "5 days"));
    EXPECT_TRUE(refined(Calendar::standard, "10 days", "5 days"));
    EXPECT_FALSE(refined(Calendar::standard, "1 month", "5 days"));
    EXPECT_FALSE(refined(Calendar::standard, "5 days", "1 month"));
    EXPECT_FALSE(refined(Calendar::standard, "3 months", "2 months"));
    EXPECT_FALSE(refined(Calendar::noleap, "1 month", "5 days"));
}

}  // namespace
}  // namespace thalweg::history
