// SPDX-License-Identifier: Apache-2.0
#include "exchange/pack/kernels.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

using namespace thalweg::detail;

namespace {

// The reference computes in long double, which must hold every integer of 64 bits.
static_assert(std::numeric_limits<long double>::digits >= 64);

template <class F>
void with_type(tw_type type, F&& f) {
    switch (type) {
        case TW_BYTE: return f(std::int8_t{});
        case TW_CHAR: return f(char{});
        case TW_SHORT: return f(std::int16_t{});
        case TW_INT: return f(std::int32_t{});
        case TW_FLOAT: return f(float{});
        case TW_DOUBLE: return f(double{});
        case TW_UBYTE: return f(std::uint8_t{});
        case TW_USHORT: return f(std::uint16_t{});
        case TW_UINT: return f(std::uint32_t{});
        case TW_INT64: return f(std::int64_t{});
        case TW_UINT64: return f(std::uint64_t{});
    }
}

const tw_type numbers[] = {TW_BYTE,  TW_SHORT,  TW_INT,  TW_FLOAT, TW_DOUBLE,
                           TW_UBYTE, TW_USHORT, TW_UINT, TW_INT64, TW_UINT64};

/// Tests if a value fits by netCDF's rule: it lies between the limits of the target's type,
/// compared before rounding. NaN and infinities fit only floating-point types.
template <class To, class From>
bool fits(From value) {
    const auto v = static_cast<long double>(value);
    if (std::is_floating_point_v<To>)
        return std::isnan(v) || std::isinf(v) ||
               std::fabs(v) <= static_cast<long double>(std::numeric_limits<To>::max());
    return v >= static_cast<long double>(std::numeric_limits<To>::lowest()) &&
           v <= static_cast<long double>(std::numeric_limits<To>::max());
}

/// Returns values at and around all limits that the type can represent.
template <class T>
std::vector<T> interesting() {
    std::vector<long double> wanted{0,    1,    2,      100,    126,   127,   128,     129,
                                    254,  255,  256,    32767,  32768, 65535, 65536,   16777217,
                                    0.5L, 0.1L, 127.5L, 255.5L, 1e10L, 1e19L, 3.5e38L, 1e300L};
    for (int bits : {31, 32, 53, 63, 64}) {
        const long double power = std::ldexp(1.0L, bits);
        for (long double offset : {-1024.0L, -1.0L, -0.5L, 0.0L, 1.0L, 2048.0L})
            wanted.push_back(power + offset);
    }
    std::vector<T> result;
    for (long double w : wanted)
        for (long double v : {w, -w})
            if (v >= static_cast<long double>(std::numeric_limits<T>::lowest()) &&
                v <= static_cast<long double>(std::numeric_limits<T>::max()))
                result.push_back(static_cast<T>(v));
    if constexpr (std::is_floating_point_v<T>) {
        using Limits = std::numeric_limits<T>;
        for (T v : {Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(), Limits::max(),
                    Limits::lowest(), Limits::min(), Limits::denorm_min(), T(-0.0)})
            result.push_back(v);
    }
    return result;
}

template <class T>
void put(char* to, T value, bool swap) {
    char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    for (std::size_t i = 0; i < sizeof(T); ++i) to[i] = bytes[swap ? sizeof(T) - 1 - i : i];
}

constexpr bool little = std::endian::native == std::endian::little;

/// Checks one pair of types and byte orders, with the given distances between values in memory.
template <class From, class To>
void check_pair(RowKernel kernel, bool swap_from, bool swap_to, std::ptrdiff_t from_gap,
                std::ptrdiff_t to_gap, bool backwards) {
    ASSERT_NE(kernel, nullptr);
    const std::vector<From> values = interesting<From>();
    const auto n = static_cast<std::ptrdiff_t>(values.size());
    const std::ptrdiff_t from_stride = static_cast<std::ptrdiff_t>(sizeof(From)) + from_gap;
    const std::ptrdiff_t to_stride = static_cast<std::ptrdiff_t>(sizeof(To)) + to_gap;
    std::vector<char> from(static_cast<std::size_t>(n * from_stride), '\x11');
    std::vector<char> to(static_cast<std::size_t>(n * to_stride), '\x22');
    std::vector<char> expected = to;
    char fill[sizeof(To)];
    for (std::size_t i = 0; i < sizeof(To); ++i) fill[i] = static_cast<char>(0x70 + i);
    std::int64_t misfits = 0;
    for (std::ptrdiff_t i = 0; i < n; ++i) {
        const From v = values[static_cast<std::size_t>(i)];
        put(from.data() + (backwards ? n - 1 - i : i) * from_stride, v, swap_from);
        char* at = expected.data() + i * to_stride;
        if (std::is_same_v<From, To> || fits<To>(v)) {
            put(at, static_cast<To>(v), swap_to);
        } else {
            std::memcpy(at, fill, sizeof fill);
            ++misfits;
        }
    }
    EXPECT_EQ(kernel(to.data(), to_stride, from.data() + (backwards ? (n - 1) * from_stride : 0),
                     backwards ? -from_stride : from_stride, n, fill),
              misfits);
    for (std::ptrdiff_t i = 0; i < n; ++i)
        ASSERT_EQ(std::memcmp(to.data() + i * to_stride, expected.data() + i * to_stride,
                              static_cast<std::size_t>(to_stride)),
                  0)
            << "value " << +values[static_cast<std::size_t>(i)];
}

TEST(Kernels, AllPairsOfTypes) {
    for (tw_type from : numbers)
        for (tw_type to : numbers)
            for (Order order : {Order::native, Order::big_endian})
                with_type(from, [&](auto f) {
                    with_type(to, [&](auto t) {
                        using From = decltype(f);
                        using To = decltype(t);
                        const bool swap = little && order == Order::big_endian;
                        for (auto [from_gap, to_gap] : {std::pair(0, 0), {3, 0}, {0, 5}, {8, 4}})
                            for (bool backwards : {false, true}) {
                                SCOPED_TRACE(testing::Message()
                                             << name_of(from) << " to " << name_of(to)
                                             << (swap ? ", swapped" : "") << ", gaps " << from_gap
                                             << " " << to_gap << (backwards ? ", backwards" : ""));
                                check_pair<From, To>(pack_kernel(from, to, order), false, swap,
                                                     from_gap, to_gap, backwards);
                                check_pair<From, To>(unpack_kernel(from, to, order), swap, false,
                                                     from_gap, to_gap, backwards);
                            }
                    });
                });
}

/// A block is examined value by value only if one of its values does not fit.
TEST(Kernels, OneValueAmongOthersThatFit) {
    const RowKernel kernel = pack_kernel(TW_DOUBLE, TW_FLOAT, Order::native);
    for (const double value : interesting<double>()) {
        std::vector<double> from(64, 1.5);
        std::vector<float> to(from.size());
        from[37] = value;
        const float fill = -9;
        EXPECT_EQ(kernel(reinterpret_cast<char*>(to.data()), sizeof(float),
                         reinterpret_cast<const char*>(from.data()), sizeof(double), 64,
                         reinterpret_cast<const char*>(&fill)),
                  fits<float>(value) ? 0 : 1)
            << value;
        EXPECT_TRUE(fits<float>(value) || to[37] == fill) << value;
    }
}

/// Without conversion, all bit patterns are preserved, including signalling NaNs.
TEST(Kernels, SameTypeKeepsAllBits) {
    for (std::int64_t n : {1, 3, 7, 8, 16, 31, 33, 1000}) {
        for (tw_type type : {TW_BYTE, TW_CHAR, TW_SHORT, TW_FLOAT, TW_DOUBLE, TW_UINT64}) {
            const std::size_t size = size_of(type);
            std::vector<char> from(static_cast<std::size_t>(n) * size);
            for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<char>(i * 37 + 250);
            std::vector<char> to(from.size() + 1, '!');
            const auto stride = static_cast<std::ptrdiff_t>(size);
            const RowKernel kernel = pack_kernel(type, type, Order::big_endian);
            EXPECT_EQ(kernel(to.data(), stride, from.data(), stride, n, nullptr), 0);
            for (std::size_t i = 0; i < from.size(); ++i) {
                const std::size_t mirrored = i / size * size + size - 1 - i % size;
                ASSERT_EQ(to[i], from[little ? mirrored : i]);
            }
            EXPECT_EQ(to.back(), '!');
            std::vector<char> back(from.size());
            unpack_kernel(type, type, Order::big_endian)(back.data(), stride, to.data(), stride, n,
                                                         nullptr);
            EXPECT_EQ(back, from);
        }
    }
}

TEST(Kernels, TextMeetsNoNumbers) {
    for (tw_type number : numbers)
        for (Order order : {Order::native, Order::big_endian}) {
            EXPECT_EQ(pack_kernel(TW_CHAR, number, order), nullptr);
            EXPECT_EQ(pack_kernel(number, TW_CHAR, order), nullptr);
            EXPECT_EQ(unpack_kernel(TW_CHAR, number, order), nullptr);
            EXPECT_EQ(unpack_kernel(number, TW_CHAR, order), nullptr);
        }
}

TEST(Kernels, MoveKeepsBytes) {
    for (std::size_t size : {1U, 2U, 4U, 8U}) {
        char from[64], to[64] = {};
        for (int i = 0; i < 64; ++i) from[i] = static_cast<char>(i);
        const auto stride = static_cast<std::ptrdiff_t>(size);
        move_kernel(size)(to, stride, from + 48, -2 * stride, 3, nullptr);
        for (std::size_t i = 0; i < 3 * size; ++i)
            EXPECT_EQ(to[i], static_cast<char>(48 - i / size * 2 * size + i % size));
        EXPECT_EQ(to[3 * size], 0);
    }
}

TEST(Kernels, StreamsWriteWhatMovesDo) {
    for (const tw_type type : numbers) {
        const auto size = static_cast<std::ptrdiff_t>(size_of(type));
        std::vector<char> from(5000);
        for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<char>(i * 37 + i / 251);
        for (const Order order : {Order::big_endian, Order::native})
            for (const std::int64_t n : {1, 31, 64, 100, 257, 500})
                for (std::size_t at = 0; at < 40; ++at)
                    for (const std::ptrdiff_t stride : {size, 2 * size}) {
                        std::vector<char> moved(9000, 1), streamed(9000, 1);
                        char fill[8] = {};
                        unpack_kernel(type, type, order)(moved.data() + at, stride,
                                                         from.data() + at % 7, size, n, fill);
                        unpack_kernel(type, type, order, true)(streamed.data() + at, stride,
                                                               from.data() + at % 7, size, n, fill);
                        end_streams();
                        ASSERT_EQ(moved, streamed) << type << " " << n << " at " << at;
                    }
    }
}

}  // namespace
