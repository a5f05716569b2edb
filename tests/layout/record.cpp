// Tests the layout `record` with fixed spaces.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <set>

#include "layout/layout.hpp"

using namespace thalweg::detail;

namespace {

TEST(RecordLayout, SharesAreEven) {
    FileSection space;
    space.bytes = 1 << 24;
    space.places.push_back({0, 0, space.bytes, space.bytes, 4, {1 << 22}});
    const auto layout = make_record_layout(7, 4096);
    for (int w = 0; w < 7; ++w) {
        const auto share = layout->share(w, space, 8192).extents();
        ASSERT_EQ(share.size(), 1U);
        EXPECT_NEAR(static_cast<double>(share[0].size()), (1 << 24) / 7.0, 4096 + 1);
    }
}

TEST(RecordLayout, BeyondTwoToThe31) {
    FileSection space;
    const std::int64_t bytes = std::int64_t(1) << 40;
    space.bytes = bytes;
    space.places.push_back({0, 0, bytes, bytes, 8, {1 << 20, 1 << 17}});
    const auto layout = make_record_layout(1000, 1 << 20);
    std::int64_t position = 0;
    for (int w = 0; w < 1000; ++w) {
        const auto share = layout->share(w, space, 1 << 20).extents();
        ASSERT_EQ(share.size(), 1U);
        ASSERT_EQ(share[0].begin, position);
        position = share[0].end;
        Box row;
        row.nd = 2;
        row.low[0] = share[0].begin / (std::int64_t(8) << 17);
        row.count[0] = 1;
        row.count[1] = 1 << 17;
        std::set<int> met;
        layout->add_writers(space, 0, row, met);
        ASSERT_TRUE(met.contains(w));
        ASSERT_LE(met.size(), 3U);
    }
    EXPECT_EQ(position, bytes);
}

/// With many writers, a rank must not have to consider all writers within the alignment of its
/// elements.
TEST(RecordLayout, ManyWritersOfLittleAreNotAllMet) {
    constexpr std::int64_t alignment = 1 << 20;
    FileSection space;
    space.bytes = 50 * alignment;
    space.places.push_back({0, 0, space.bytes, space.bytes, 4, {50 << 18}});
    const auto layout = make_record_layout(2048, alignment);
    Box one;
    one.nd = 1;
    one.low[0] = 25 << 18;
    one.count[0] = 1;
    std::set<int> met;
    layout->add_writers(space, 0, one, met);
    EXPECT_LE(met.size(), 12U);
    for (const std::int64_t base : {std::int64_t(0), 3 * alignment / 4, 7 * alignment + 4}) {
        int writing = 0;
        for (int w = 0; w < 2048; ++w) {
            const auto share = layout->share(w, space, base).extents();
            for (const Extent& e : share) {
                ++writing;
                EXPECT_LE(e.size(), alignment * 5 / 4);
                const bool has = e.begin <= 25 * alignment && 25 * alignment < e.end;
                EXPECT_TRUE(!has || met.contains(w));
            }
        }
        EXPECT_GE(writing, 50);
    }
}

}  // namespace
