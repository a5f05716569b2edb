// SPDX-License-Identifier: Apache-2.0
#include "exchange/pack/copy.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "system/random.hpp"

using namespace thalweg::detail;

namespace {

/// An array that contains a box. Dimensions can be nested in any order, with gaps, and with
/// positive or negative strides.
struct Room {
    Index stride{};
    std::int64_t base = 0;   ///< offset of the first element in bytes
    std::int64_t bytes = 0;  ///< size of the whole array
};

Room random_room(Random& random, int nd, const Index& count, std::int64_t element, bool dense) {
    std::vector<int> order;
    for (int d = 0; d < nd; ++d) order.push_back(d);
    if (!dense) random.shuffle(order);
    Room room;
    std::int64_t n = element;
    for (std::size_t i = order.size(); i-- > 0;) {
        const int d = order[i];
        if (!dense && random.percent(20)) n += random.below(3) * element + random.below(2);
        room.stride[d] = n;
        n *= count[d];
        if (!dense && random.percent(25)) {
            room.base += room.stride[d] * (count[d] - 1);
            room.stride[d] = -room.stride[d];
        }
    }
    room.bytes = n;
    return room;
}

/// Copies a box element by element, to get the expected result.
std::int64_t naive(int nd, const Index& count, char* to, const Index& to_stride, const char* from,
                   const Index& from_stride, RowKernel kernel, const char* fill) {
    std::int64_t misfits = 0, n = 1;
    for (int d = 0; d < nd; ++d) n *= count[d];
    for (std::int64_t i = 0; i < n; ++i) {
        std::ptrdiff_t t = 0, f = 0;
        std::int64_t rest = i;
        for (int d = nd - 1; d >= 0; --d) {
            t += rest % count[d] * to_stride[d];
            f += rest % count[d] * from_stride[d];
            rest /= count[d];
        }
        misfits += kernel(to + t, 1, from + f, 1, 1, fill);
    }
    return misfits;
}

void check_box(Random& random, int nd, const Index& count, bool dense_to, bool dense_from) {
    const tw_type types[] = {TW_BYTE, TW_SHORT, TW_INT, TW_FLOAT, TW_DOUBLE, TW_UINT64};
    const tw_type memory = types[random.below(6)];
    const tw_type file = random.percent(50) ? memory : types[random.below(6)];
    const Order order = random.percent(50) ? Order::native : Order::big_endian;
    const Room to = random_room(random, nd, count, size_of(file), dense_to);
    const Room from = random_room(random, nd, count, size_of(memory), dense_from);
    std::vector<char> source(static_cast<std::size_t>(from.bytes));
    for (char& c : source) c = static_cast<char>(random.next());
    std::vector<char> expected(static_cast<std::size_t>(to.bytes), '?'), got = expected;
    const char fill[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    const RowKernel kernel = pack_kernel(memory, file, order);
    const std::int64_t wanted = naive(nd, count, expected.data() + to.base, to.stride,
                                      source.data() + from.base, from.stride, kernel, fill);
    ASSERT_EQ(copy_box(nd, count, got.data() + to.base, to.stride, source.data() + from.base,
                       from.stride, kernel, fill),
              wanted);
    ASSERT_EQ(got, expected);
}

TEST(CopyBox, RandomShapesOrdersAndStrides) {
    Random random(1);
    for (int i = 0; i < 20'000; ++i) {
        SCOPED_TRACE(i);
        const int nd = static_cast<int>(random.below(6));
        Index count{};
        for (int d = 0; d < nd; ++d) count[d] = random.between(1, 5);
        ASSERT_NO_FATAL_FAILURE(
            check_box(random, nd, count, random.percent(50), random.percent(30)));
    }
}

/// The box is longer than a tile in both directions, with a remainder.
TEST(CopyBox, Tiles) {
    Random random(2);
    for (int i = 0; i < 60; ++i) {
        SCOPED_TRACE(i);
        Index count{};
        const std::int64_t lengths[] = {1, 2, 15, 16, 17, 33, 255, 256, 257, 300, 513};
        const int nd = random.percent(50) ? 2 : 3;
        for (int d = 0; d < 2; ++d) count[d] = lengths[random.below(11)];
        if (nd == 3) count[2] = random.between(1, 3);
        if (random.percent(50)) std::swap(count[0], count[nd - 1]);
        ASSERT_NO_FATAL_FAILURE(check_box(random, nd, count, true, false));
    }
}

TEST(CopyBox, AsManyDimensionsAsThereAre) {
    Random random(3);
    for (int i = 0; i < 50; ++i) {
        Index count{};
        for (int d = 0; d < max_dims; ++d) count[d] = random.percent(30) ? 2 : 1;
        ASSERT_NO_FATAL_FAILURE(check_box(random, max_dims, count, false, false));
    }
}

TEST(CopyBox, NothingToCopy) {
    char to = '?';
    const Index count{3, 0, 2}, stride{1, 1, 1};
    EXPECT_EQ(copy_box(3, count, &to, stride, nullptr, stride, move_kernel(1), nullptr), 0);
    EXPECT_EQ(to, '?');
}

/// Elements that are contiguous on both sides are copied by one call of the kernel.
TEST(CopyBox, MergesWhatContinues) {
    static int calls;
    static std::int64_t values;
    calls = 0;
    values = 0;
    const RowKernel count_calls = [](char*, std::ptrdiff_t, const char*, std::ptrdiff_t,
                                     std::int64_t n, const char*) -> std::int64_t {
        ++calls;
        values += n;
        return 0;
    };
    const Index count{3, 4, 5}, dense{80, 20, 4};
    std::vector<char> to(240), from(240), wide(3 * 24 * 4);
    copy_box(3, count, to.data(), dense, from.data(), dense, count_calls, nullptr);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(values, 60);
    // With a halo on the middle dimension: one call per index of the slowest dimension.
    calls = 0;
    const Index with_halo{24 * 4, 20, 4};
    copy_box(3, count, to.data(), dense, wide.data(), with_halo, count_calls, nullptr);
    EXPECT_EQ(calls, 3);
}

}  // namespace
