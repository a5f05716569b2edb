// SPDX-License-Identifier: Apache-2.0
#include "exchange/pack/packers.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>

#include "system/random.hpp"

using namespace thalweg::detail;

namespace {

/// Several threads copy boxes of all shapes, with index swap and conversion. The result must be
/// that of one thread, including the number of values that do not fit.
TEST(Packers, CopyAsOneThreadDoes) {
    Random random(1);
    for (const int threads : {1, 2, 3, 5}) {
        Packers packers(threads);
        EXPECT_EQ(packers.threads(), threads);
        for (int i = 0; i < 40; ++i) {
            Index count{}, to_stride{}, from_stride{};
            const int nd = static_cast<int>(random.between(1, 3));
            std::int64_t volume = 1;
            for (int d = 0; d < nd; ++d) {
                count[d] = random.percent(20) ? random.between(1, 3)
                                              : random.between(1, nd == 1   ? 100000
                                                                  : nd == 2 ? 300
                                                                            : 60);
                volume *= count[d];
            }
            std::int64_t to = 2, from = 4;  // int to short
            for (int d = 0; d < nd; ++d) {  // dimensions are nested in opposite orders on the two
                                            // sides
                from_stride[d] = from;
                from *= count[d];
                to_stride[nd - 1 - d] = to;
                to *= count[nd - 1 - d];
            }
            std::vector<std::int32_t> values;
            for (std::int64_t k = 0; k < volume; ++k)
                values.push_back(static_cast<std::int32_t>(random.between(-40000, 40000)));
            std::vector<std::int16_t> one(values.size()), many(values.size());
            const std::int16_t fill = -7;
            const auto kernel = pack_kernel(TW_INT, TW_SHORT, Order::big_endian);
            const auto* const source = reinterpret_cast<const char*>(values.data());
            const auto* const filler = reinterpret_cast<const char*>(&fill);
            const auto expected = copy_box(nd, count, reinterpret_cast<char*>(one.data()),
                                           to_stride, source, from_stride, kernel, filler);
            const auto misfits = packers.copy_box(nd, count, reinterpret_cast<char*>(many.data()),
                                                  to_stride, source, from_stride, kernel, filler);
            ASSERT_EQ(misfits, expected);
            ASSERT_EQ(many, one);
        }
    }
}

TEST(Packers, AllowedThreadsAreThoseOfTheMask) {
    cpu_set_t before;
    ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    const int own = CPU_COUNT(&before);
    setenv("OMP_NUM_THREADS", "1", 1);
    EXPECT_EQ(allowed_threads(0, 1), 1);
    setenv("OMP_NUM_THREADS", "1000000,2", 1);
    EXPECT_EQ(allowed_threads(0, 1), own);
    unsetenv("OMP_NUM_THREADS");
    EXPECT_EQ(allowed_threads(0, 1), 1);
    EXPECT_EQ(allowed_threads(1 << 20, 1), own);
    cpu_set_t one;
    CPU_ZERO(&one);
    int first = 0;
    while (!CPU_ISSET(first, &before)) ++first;
    CPU_SET(first, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(allowed_threads(4, 1), 1);
    sched_setaffinity(0, sizeof before, &before);
}

}  // namespace
