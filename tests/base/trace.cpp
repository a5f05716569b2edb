// SPDX-License-Identifier: Apache-2.0
#include "base/trace.hpp"

#include <gtest/gtest.h>

#include "base/waiting.hpp"

using namespace thalweg::detail;

namespace {

TEST(Trace, NobodyAsks) {
    ASSERT_EQ(trace_lane, nullptr);
    const TraceFile file("a.nc");
    Span span("write");
    span.variable("T").record(1).bytes(2);
    EXPECT_FALSE(span);
    const Waiting waiting("nothing");
}

TEST(Trace, CountsWhatHasNoRoom) {
    constexpr int room = 10;
    TraceLane lane(room * sizeof(TraceEvent));
    const TraceInto into(&lane);
    for (int i = 0; i < room + 7; ++i) const Span span("write");
    EXPECT_EQ(lane.events().size(), room);
    EXPECT_EQ(lane.left_out(), 7);
    EXPECT_EQ(lane.number_of("a name"), -1);
    lane.stop();
    { const Span span("write"); }
    EXPECT_EQ(lane.left_out(), 7);
}

TEST(Trace, NamesAreKeptOnceAndNotTooLong) {
    TraceLane lane(1 << 20);
    EXPECT_EQ(lane.number_of("a"), 0);
    EXPECT_EQ(lane.number_of("b"), 1);
    EXPECT_EQ(lane.number_of("a"), 0);
    const std::string longest(100'000, 'x');
    EXPECT_EQ(lane.name(lane.number_of(longest)).size(), 4096U);
}

TEST(Trace, WaitsForTheSameReasonAreOne) {
    TraceLane lane(1 << 20);
    const TraceInto into(&lane);
    const char* const reason = "room";
    for (int i = 0; i < 5; ++i) const Waiting waiting(reason);
    EXPECT_EQ(lane.events().size(), 1U);
    { const Waiting waiting("an answer"); }
    EXPECT_EQ(lane.events().size(), 2U);
    {
        // A wait is not joined with an earlier one if a span has begun between them.
        const Span span("pack");
        const Waiting waiting("an answer");
    }
    EXPECT_EQ(lane.events().size(), 4U);
    {
        const Waiting outer("all");
        const Waiting inner("some");
    }
    ASSERT_EQ(lane.events().size(), 5U);
    EXPECT_STREQ(lane.events().back().reason, "all");
    { const Waiting system(the_file_system); }
    EXPECT_EQ(lane.events().size(), 5U);
}

}  // namespace
