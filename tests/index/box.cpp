// SPDX-License-Identifier: Apache-2.0
#include "index/box.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "system/random.hpp"

using namespace thalweg::detail;

namespace {

using Shape = std::vector<std::int64_t>;

std::vector<Box> boxes_of(const Shape& shape, std::int64_t begin, std::int64_t end) {
    std::vector<Box> boxes;
    for_boxes_of_range(shape, begin, end, [&](const Box& box) { boxes.push_back(box); });
    return boxes;
}

/// Returns the row-major positions of a box's elements in the index space, in the row-major order
/// of the box.
std::vector<std::int64_t> elements_of(const Box& box, const Shape& shape) {
    std::vector<std::int64_t> result;
    Index at = box.low;
    for (std::int64_t i = 0; i < box.volume(); ++i) {
        result.push_back(linear(shape, at));
        for (int d = box.nd - 1; d >= 0 && ++at[d] == box.low[d] + box.count[d]; --d)
            at[d] = box.low[d];
    }
    return result;
}

/// Checks that the boxes contain each element of the range once, in ascending order.
void check_range(const Shape& shape, std::int64_t begin, std::int64_t end) {
    const std::vector<Box> boxes = boxes_of(shape, begin, end);
    const auto nd = static_cast<std::size_t>(shape.size());
    ASSERT_LE(boxes.size(), nd == 0 ? 1 : 2 * nd - 1);
    std::int64_t expected = begin;
    for (const Box& box : boxes) {
        ASSERT_EQ(box.nd, static_cast<int>(nd));
        for (std::size_t d = 0; d < nd; ++d) {
            ASSERT_GE(box.low[d], 0);
            ASSERT_GT(box.count[d], 0);
            ASSERT_LE(box.low[d] + box.count[d], shape[d]);
        }
        for (std::int64_t element : elements_of(box, shape)) ASSERT_EQ(element, expected++);
    }
    ASSERT_EQ(expected, end);
}

void check_all_ranges(const Shape& shape) {
    const std::int64_t n = volume(shape);
    for (std::int64_t begin = 0; begin < n; ++begin)
        for (std::int64_t end = begin + 1; end <= n; ++end) {
            SCOPED_TRACE(testing::Message() << "range " << begin << " to " << end);
            ASSERT_NO_FATAL_FAILURE(check_range(shape, begin, end));
        }
}

TEST(BoxesOfRange, EveryRangeOfSmallShapes) {
    check_all_ranges({});
    for (std::int64_t a = 1; a <= 5; ++a) {
        check_all_ranges({a});
        for (std::int64_t b = 1; b <= 4; ++b) {
            check_all_ranges({a, b});
            for (std::int64_t c = 1; c <= 3; ++c) check_all_ranges({a, b, c});
        }
    }
    check_all_ranges({2, 3, 2, 2});
    check_all_ranges({2, 1, 2, 1, 3});
}

TEST(BoxesOfRange, EmptyRangeHasNoBox) {
    EXPECT_TRUE(boxes_of({3, 4}, 5, 5).empty());
    EXPECT_TRUE(boxes_of({3, 4}, 5, 2).empty());
    EXPECT_TRUE(boxes_of({}, 0, 0).empty());
}

TEST(BoxesOfRange, WholeSpaceIsOneBox) {
    const auto boxes = boxes_of({3, 4, 5}, 0, 60);
    ASSERT_EQ(boxes.size(), 1U);
    EXPECT_EQ(boxes[0].volume(), 60);
}

TEST(BoxesOfRange, WholeRowsAreOneBox) {
    const auto boxes = boxes_of({3, 4, 5}, 20, 60);
    ASSERT_EQ(boxes.size(), 1U);
    EXPECT_EQ(boxes[0].low[0], 1);
    EXPECT_EQ(boxes[0].count[0], 2);
}

TEST(BoxesOfRange, BeyondTwoToThe31) {
    const Shape shape{70'000, 50'000, 3};  // 10.5e9 elements
    const std::int64_t begin = 3'000'000'001, end = 9'999'999'998;
    const auto boxes = boxes_of(shape, begin, end);
    ASSERT_LE(boxes.size(), 5U);
    std::int64_t position = begin;
    for (const Box& box : boxes) {
        EXPECT_EQ(linear(shape, box.low), position);
        position += box.volume();
    }
    EXPECT_EQ(position, end);
}

TEST(Box, VolumeBeyondTwoToThe31) {
    Box box;
    box.nd = 3;
    box.count = {1 << 20, 1 << 20, 1 << 20};
    EXPECT_EQ(box.volume(), std::int64_t(1) << 60);
    EXPECT_EQ(volume(std::vector<std::int64_t>{65536, 65536}), std::int64_t(1) << 32);
    EXPECT_EQ(volume(Shape{}), 1);
}

TEST(Box, StridesAndLinearAgree) {
    const Shape shape{100'000, 60'000, 7, 2};
    const Index stride = strides_of(shape);
    EXPECT_EQ(stride[3], 1);
    EXPECT_EQ(stride[2], 2);
    EXPECT_EQ(stride[1], 14);
    EXPECT_EQ(stride[0], 840'000);
    const Index at{99'999, 59'999, 6, 1};
    std::int64_t sum = 0;
    for (std::size_t d = 0; d < 4; ++d) sum += at[d] * stride[d];
    EXPECT_EQ(linear(shape, at), sum);
    EXPECT_EQ(sum, volume(shape) - 1);
}

TEST(Intersect, IsTheCommonElements) {
    Random random(1);
    for (int i = 0; i < 20'000; ++i) {
        Box a, b;
        a.nd = b.nd = static_cast<int>(random.between(1, 3));
        bool any = true;
        for (int d = 0; d < a.nd; ++d) {
            a.low[d] = random.below(6);
            b.low[d] = random.below(6);
            a.count[d] = random.below(4);
            b.count[d] = random.below(4);
        }
        Box common;
        const bool found = intersect(a, b, common);
        for (int d = 0; d < a.nd; ++d) {
            std::int64_t n = 0, first = -1;
            for (std::int64_t x = 0; x < 10; ++x) {
                const bool in_both = x >= a.low[d] && x < a.low[d] + a.count[d] && x >= b.low[d] &&
                                     x < b.low[d] + b.count[d];
                if (in_both && n++ == 0) first = x;
            }
            any &= n > 0;
            if (found) {
                ASSERT_EQ(common.low[d], first);
                ASSERT_EQ(common.count[d], n);
            }
        }
        ASSERT_EQ(found, any);
        if (found) {
            ASSERT_EQ(common.nd, a.nd);
        }
    }
}

TEST(Box, IsContiguousIfItsElementsAreSideBySide) {
    const std::int64_t shape[] = {3, 4, 5};
    Box box = whole_box(shape);
    EXPECT_EQ(box.volume(), 60);
    EXPECT_TRUE(contiguous(box, shape));
    box.count[0] = 2;
    EXPECT_TRUE(contiguous(box, shape));
    box.count[1] = 2;
    EXPECT_FALSE(contiguous(box, shape));
    box.count[0] = 1;
    EXPECT_TRUE(contiguous(box, shape));
    box.count[2] = 3;
    EXPECT_FALSE(contiguous(box, shape));
    box.count[1] = 1;
    EXPECT_TRUE(contiguous(box, shape));
    EXPECT_TRUE(contiguous(whole_box({}), {}));
}

}  // namespace
