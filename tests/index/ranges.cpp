// SPDX-License-Identifier: Apache-2.0
#include "index/ranges.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "system/random.hpp"

using namespace thalweg::detail;

TEST(Ranges, AsASetOfNumbers) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        Random random(seed);
        constexpr std::int64_t n = 60;
        Ranges ranges;
        std::vector<char> in(n, 0);
        for (std::int64_t i = random.below(20); i >= 0; --i) {
            const std::int64_t begin = random.below(n + 1);
            const std::int64_t end = std::min(n, begin + random.below(8));
            ranges.add(begin, end);
            for (std::int64_t k = begin; k < end; ++k) in[static_cast<std::size_t>(k)] = 1;
            const std::int64_t from = random.below(n + 1), to = random.between(from, n);
            std::int64_t at = from;
            bool any = false;
            int last = -1;
            ranges.split(from, to, [&](std::int64_t b, std::int64_t e, bool inside) {
                EXPECT_EQ(b, at);
                EXPECT_LT(b, e);
                EXPECT_NE(static_cast<int>(inside), last);  // parts inside and outside alternate
                for (std::int64_t k = b; k < e; ++k)
                    EXPECT_EQ(in[static_cast<std::size_t>(k)] != 0, inside);
                at = e;
                any |= inside;
                last = inside ? 1 : 0;
            });
            EXPECT_EQ(at, to);
            EXPECT_EQ(ranges.meets(from, to), any);
        }
    }
}
