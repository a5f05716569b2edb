// SPDX-License-Identifier: Apache-2.0
#include "index/runs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "system/random.hpp"

using namespace thalweg::detail;

// Runs must be in order and separate, begin and end with wanted elements, and together contain all
// of these. Gaps inside a run must not exceed the limit.
TEST(Runs, HoldAllThatIsWanted) {
    Random random(5);
    for (int i = 0; i < 2000; ++i) {
        SCOPED_TRACE(i);
        const auto nd = static_cast<int>(random.below(5));
        std::vector<std::int64_t> shape;
        Box box;
        box.nd = nd;
        Index step = each_element;
        for (int d = 0; d < nd; ++d) {
            shape.push_back(random.between(1, 5));
            box.low[d] = random.below(shape[d]);
            step[d] = random.between(1, 3);
            const std::int64_t last = (shape[d] - 1 - box.low[d]) / step[d];
            box.count[d] = random.between(0, last) * step[d] + 1;
        }
        std::vector<std::int64_t> wanted;
        for (std::int64_t e = 0; e < volume(shape); ++e) {
            std::int64_t rest = e;
            bool is = true;
            for (int d = nd - 1; d >= 0; rest /= shape[d--]) {
                const std::int64_t at = rest % shape[d] - box.low[d];
                is &= at >= 0 && at < box.count[d] && at % step[d] == 0;
            }
            if (is) wanted.push_back(e);
        }
        const std::int64_t gap = random.below(8);
        const Runs runs = runs_of(box, shape, step, gap);
        std::vector<std::int64_t> held;
        std::int64_t count = 0;
        for_runs(box, shape, runs, step, [&](std::int64_t first) {
            const auto begin = std::lower_bound(wanted.begin(), wanted.end(), first);
            const auto end = std::lower_bound(begin, wanted.end(), first + runs.length);
            EXPECT_EQ(*begin, first);
            EXPECT_EQ(*(end - 1), first + runs.length - 1);
            for (auto next = begin + 1; next < end; ++next) EXPECT_LE(*next - *(next - 1), gap + 1);
            held.insert(held.end(), begin, end);
            ++count;
            return true;
        });
        EXPECT_EQ(held, wanted);
        EXPECT_EQ(count, runs.count);
    }
}

TEST(Runs, AreNoneWithoutElementsAndEndWhereTheVisitorSays) {
    const std::vector<std::int64_t> shape = {4, 5};
    Box box = whole_box(shape);
    box.count = {4, 0};
    EXPECT_EQ(runs_of(box, shape).count, 0);
    box.count = {3, 2};
    int calls = 0;
    for_runs(box, shape, runs_of(box, shape), each_element,
             [&](std::int64_t) { return ++calls < 2; });
    EXPECT_EQ(calls, 2);
}
