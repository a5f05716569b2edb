// SPDX-License-Identifier: Apache-2.0
#include "restart/checksum.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <limits>
#include <vector>

#include "support/decompose.hpp"

using namespace thalweg::detail;

namespace {

/// A variable, and the part of it that one rank holds.
struct Line {
    Variable variable;
    std::shared_ptr<const Holding> holding;
};

/// Makes a one-dimensional variable of which a rank holds [begin, end).
template <class T>
Line line(tw_type type, std::int64_t length, std::int64_t begin, std::int64_t end) {
    static_assert(sizeof(T) <= 8);
    Decomposition d;
    d.dims = {"x"};
    d.shape = {length};
    d.halo_low = d.halo_high = {0};
    Box box;
    box.nd = 1;
    box.low[0] = begin;
    box.count[0] = end - begin;
    d.blocks = {box};
    std::shared_ptr<const Decomposition> made;
    EXPECT_TRUE(make_decomposition(*make_serial_comm(), std::move(d), made).ok());
    Variable v;
    v.name = "v";
    v.type = type;
    v.shape = {length};
    auto holding = make_holding(made, {0}, v.shape);
    return {std::move(v), std::move(holding)};
}

template <class T>
ArrayView view_of(tw_type type, const std::vector<T>& values) {
    ArrayView view;
    view.data = reinterpret_cast<const char*>(values.data());
    view.type = type;
    return view;
}

Checksum sum_of(const Line& line, const ArrayView& array) {
    return sum_held(line.variable, *line.holding, array);
}

Checksum sum_of(const Line& line, const ArrayView& array, int rank, int ranks) {
    return sum_written(line.variable, *line.holding, array, rank, ranks);
}

template <class T>
std::string whole(tw_type type, const std::vector<T>& values) {
    const auto n = static_cast<std::int64_t>(values.size());
    return checksum_text(sum_of(line<T>(type, n, 0, n), view_of(type, values), 0, 1));
}

/// Numbers computed by another program, by the definition in docs/restarts.md.
TEST(Checksum, IsTheDocumentedOne) {
    const double infinity = std::numeric_limits<double>::infinity();
    EXPECT_EQ(whole<double>(TW_DOUBLE, {0.0, -0.0, 1.0, infinity, 1e-310, -2.5}),
              "E80A32F8165B91DC");
    EXPECT_EQ(whole<std::int16_t>(TW_SHORT, {1, 2, 3, -1, std::int16_t(-32768), 0}),
              "954689454E9B83E8");
    EXPECT_EQ(whole<std::uint8_t>(TW_UBYTE, {0x61, 0x62, 0xff}), "A02A833D7D89BDDA");
}

TEST(Checksum, IsTheSumOfParts) {
    std::vector<float> all;
    for (int i = 0; i < 100; ++i) all.push_back(1.0F / static_cast<float>(i + 1));
    const std::string expected = whole(TW_FLOAT, all);
    for (const std::int64_t cut : {0, 1, 37, 99, 100}) {
        const std::vector<float> low(all.begin(), all.begin() + cut),
            high(all.begin() + cut, all.end());
        const Checksum sum = sum_of(line<float>(TW_FLOAT, 100, 0, cut), view_of(TW_FLOAT, low)) +
                             sum_of(line<float>(TW_FLOAT, 100, cut, 100), view_of(TW_FLOAT, high));
        EXPECT_EQ(checksum_text(sum), expected) << cut;
    }
}

TEST(Checksum, SeesEveryBitAndEveryPlace) {
    const std::vector<double> values{1, 1, 2, 0, -0.0, 1e300};
    const std::string expected = whole(TW_DOUBLE, values);
    for (std::size_t i = 0; i < values.size(); ++i) {
        for (int bit = 0; bit < 64; ++bit) {
            std::vector<std::uint64_t> bits(values.size());
            std::memcpy(bits.data(), values.data(), 8 * values.size());
            bits[i] ^= std::uint64_t(1) << bit;
            EXPECT_NE(whole(TW_UINT64, bits), expected) << i << " " << bit;
        }
        for (std::size_t j = 0; j < i; ++j) {
            std::vector<double> swapped = values;
            std::swap(swapped[i], swapped[j]);
            const bool same = std::memcmp(&values[i], &values[j], 8) == 0;
            EXPECT_EQ(whole(TW_DOUBLE, swapped) == expected, same) << i << " " << j;
        }
    }
    // Swap the signs of two values, which a sum of bit patterns would not detect.
    std::vector<double> turned = values;
    turned[0] = turned[1] = -1;
    EXPECT_NE(whole(TW_DOUBLE, turned), expected);
}

/// Elements that no rank holds count with the fill value, whatever the number of ranks.
TEST(Checksum, HasWhatIsNotHeld) {
    std::vector<std::int32_t> all(50);
    std::int32_t fill = 0;
    default_fill(TW_INT, &fill);
    for (std::int32_t i = 0; i < 50; ++i) all[static_cast<std::size_t>(i)] = i < 20 ? i : fill;
    const std::vector<std::int32_t> held(all.begin(), all.begin() + 20);
    const std::string expected = whole(TW_INT, all);
    for (const int ranks : {1, 3, 7}) {
        Checksum sum = 0;
        for (int r = 0; r < ranks; ++r) {
            const bool holder = r == ranks / 2;
            sum += sum_of(line<std::int32_t>(TW_INT, 50, 0, holder ? 20 : 0), view_of(TW_INT, held),
                          r, ranks);
        }
        EXPECT_EQ(checksum_text(sum), expected) << ranks;
    }
}

/// Tests any order and strides in memory, in each direction.
TEST(Checksum, DoesNotDependOnMemory) {
    Decomposition d;
    d.dims = {"x", "y"};
    d.shape = {3, 4};
    d.halo_low = {1, 0};
    d.halo_high = {0, 2};
    Box box;
    box.nd = 2;
    box.count = {3, 4};
    d.blocks = {box};
    std::shared_ptr<const Decomposition> made;
    ASSERT_TRUE(make_decomposition(*make_serial_comm(), std::move(d), made).ok());
    Variable v;
    v.type = TW_SHORT;
    v.shape = {4, 3};
    const Line turned_line{v, make_holding(made, {1, 0}, v.shape)};
    std::vector<std::int16_t> file, array(4 * 6, -7), turned(12);
    for (std::int16_t y = 0; y < 4; ++y)
        for (std::int16_t x = 0; x < 3; ++x) {
            const auto value = static_cast<std::int16_t>(10 * y + x);
            file.push_back(value);
            array[static_cast<std::size_t>((x + 1) * 6 + y)] = value;
            turned[static_cast<std::size_t>((2 - x) * 4 + 3 - y)] = value;
        }
    const std::string expected = whole(TW_SHORT, file);
    EXPECT_EQ(checksum_text(sum_of(turned_line, view_of(TW_SHORT, array))), expected);
    ArrayView backwards = view_of(TW_SHORT, turned);
    const std::array<std::int64_t, 2> extent{3, 4}, stride{-8, -2};
    ASSERT_TRUE(check_strided(*made, 2, extent.data(), stride.data(), backwards).ok());
    backwards.data += 22;
    EXPECT_EQ(checksum_text(sum_of(turned_line, backwards)), expected);
}

}  // namespace
