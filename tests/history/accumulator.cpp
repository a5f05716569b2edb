// SPDX-License-Identifier: Apache-2.0
#include "history/statistics/accumulator.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace thalweg::history {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double fill = 1e20;

template <class T>
Value value_of(T value) {
    Value bits{};
    std::memcpy(bits.data(), &value, sizeof value);
    return bits;
}

Statistic statistic(Op op, Missing missing = Missing::none, double missing_value = 1e20) {
    Statistic made;
    made.op = op;
    made.type = TW_DOUBLE;
    made.missing = missing;
    made.missing_value = value_of(missing_value);
    return made;
}

/// Finishes a window.
template <class T>
std::vector<T> finish(Accumulator& accumulator, std::int64_t elements, tw_type type, T missing,
                      Status& status) {
    const void* found = nullptr;
    status = accumulator.finish(type, value_of(missing), found);
    const auto* const first = static_cast<const T*>(found);
    return {first, first + elements};
}

/// Accumulates the samples of one element.
struct One {
    Accumulator accumulator;
    Status status, sample_status;

    explicit One(const Statistic& made) : accumulator(made, 1) {}
    One& add(double x, double weight = 1, double field = 1) {
        accumulator.begin_sample(weight);
        accumulator.add({0, 1, &x, 1, &field});
        if (Status own = accumulator.end_sample(); !own.ok()) sample_status = own;
        return *this;
    }
    double result() { return finish(accumulator, 1, TW_DOUBLE, fill, status).front(); }
    float result_in_float() { return finish(accumulator, 1, TW_FLOAT, 1e20f, status).front(); }
};

double result_of(const Statistic& made, std::initializer_list<double> samples) {
    One one(made);
    for (const double x : samples) one.add(x);
    return one.result();
}

// The sample at the beginning of the first window has the weight 0. A difference needs two samples.
TEST(Accumulator, Differences) {
    for (const Op op : {Op::difference, Op::rate}) {
        EXPECT_EQ(One(statistic(op)).add(2, 0).add(6, 1).result(), 4);
        EXPECT_EQ(One(statistic(op)).add(2, 0).result(), fill);
        EXPECT_EQ(One(statistic(op)).add(2, 1).result(), fill);
    }
}

// The mean thickness of ice is weighted by the area with ice.
TEST(Accumulator, WeightField) {
    Statistic made = statistic(Op::mean);
    made.weight_field = true;
    EXPECT_EQ(One(made).add(2, 1, 0.5).add(0, 1, 0).result(), 2);
    EXPECT_EQ(One(made).add(0, 1, 0).add(0, 1, 0).result(), fill);
    EXPECT_EQ(One(made).add(2, 1, 0.5).add(nan, 1, 0).result(), 2);
    One negative(made);
    negative.add(2, 1, -0.5);
    EXPECT_EQ(negative.sample_status.code, TW_EARG);
}

TEST(Accumulator, FixedMask) {
    for (const Op op : {Op::mean, Op::std, Op::max}) {
        One same(statistic(op, Missing::fixed));
        EXPECT_EQ(same.add(1e20).add(1e20).result(), fill);
        EXPECT_TRUE(same.sample_status.ok());
        One other(statistic(op, Missing::fixed));
        other.add(1e20).add(1);
        EXPECT_EQ(other.sample_status.code, TW_EARG);
        other.accumulator.reset();
        other.sample_status = {};
        other.add(1);
        EXPECT_TRUE(other.sample_status.ok());
    }
}

// Numbers near the limits of the type, infinities and NaN.
TEST(Accumulator, LargeNumbers) {
    One large(statistic(Op::mean));
    EXPECT_EQ(large.add(1e308).add(1e308).result(), infinity);
    EXPECT_TRUE(large.status.ok());
    large.accumulator.reset();
    EXPECT_EQ(large.add(1e308).add(1e308).result_in_float(), 1e20f);
    EXPECT_EQ(large.status.code, TW_ERANGE);
    One beyond(statistic(Op::max));
    EXPECT_EQ(beyond.add(1e300).result_in_float(), 1e20f);
    EXPECT_EQ(beyond.status.code, TW_ERANGE);
    One passes(statistic(Op::max));
    EXPECT_TRUE(std::isinf(passes.add(-infinity).add(infinity).result_in_float()));
    EXPECT_TRUE(passes.status.ok());
    EXPECT_TRUE(std::signbit(result_of(statistic(Op::mean), {-0.0, -0.0})));
    EXPECT_FALSE(std::signbit(result_of(statistic(Op::mean), {-0.0, 0.0})));
}

// The value of an instant does not depend on its weight, and infinities fit a smaller type.
TEST(Accumulator, Instants) {
    for (const Op op : {Op::instant, Op::once}) {
        EXPECT_EQ(One(statistic(op)).add(0.1, 1800).result(), 0.1);
        EXPECT_EQ(One(statistic(op)).add(-infinity).result_in_float(), -infinity);
    }
}

TEST(Accumulator, IntegerSums) {
    Statistic made = statistic(Op::sum);
    made.type = TW_INT;
    Accumulator sums(made, 1);
    const std::int32_t most = INT32_MAX;
    Status status;
    const auto result = [&](tw_type type, auto missing) {
        sums.reset();
        for (int i = 0; i < 2; ++i) {
            sums.begin_sample(1);
            sums.add({0, 1, &most, 1, nullptr});
            EXPECT_TRUE(sums.end_sample().ok());
        }
        return finish(sums, 1, type, missing, status).front();
    };
    EXPECT_EQ(result(TW_FLOAT, 1e20f), 4294967294.0f);
    EXPECT_TRUE(status.ok());
    EXPECT_EQ(result(TW_INT, std::int32_t{-1}), -1);
    EXPECT_EQ(status.code, TW_ERANGE);
    (void)result(TW_SHORT, std::int16_t{-1});
    EXPECT_EQ(status.code, TW_ETYPE);
}

TEST(Accumulator, IntegerSumsOfFixedMask) {
    Statistic made = statistic(Op::sum, Missing::fixed);
    made.type = TW_INT;
    made.missing_value = value_of(std::int32_t{-9});
    Accumulator sums(made, 2);
    const auto add = [&](std::int32_t first, std::int32_t second) {
        const std::int32_t both[2] = {first, second};
        sums.begin_sample(1);
        sums.add({0, 2, both, 1, nullptr});
        return sums.end_sample().code;
    };
    EXPECT_EQ(add(-9, 2), TW_OK);
    EXPECT_EQ(add(-9, 3), TW_OK);
    EXPECT_EQ(add(1, 3), TW_EARG);
    EXPECT_EQ(add(-9, -9), TW_EARG);
    sums.reset();
    EXPECT_EQ(add(-9, 2), TW_OK);
    EXPECT_EQ(add(-9, 3), TW_OK);
    Status status;
    const auto found = finish(sums, 2, TW_INT, std::int32_t{-1}, status);
    EXPECT_TRUE(status.ok());
    EXPECT_EQ(found[0], -1);
    EXPECT_EQ(found[1], 5);
    sums.reset();
    EXPECT_EQ(add(1, -9), TW_OK);
}

// The memory per element must be as documented.
TEST(Accumulator, Memory) {
    const auto bytes = [](Statistic made) { return Accumulator::bytes(made, 1000) / 1000; };
    Statistic made = statistic(Op::mean);
    made.type = TW_FLOAT;
    EXPECT_EQ(bytes(made), 8);
    made.op = Op::max;
    EXPECT_EQ(bytes(made), 4);
    made.results = TW_DOUBLE;
    EXPECT_EQ(bytes(made), 8);
    made.op = Op::range;
    EXPECT_EQ(bytes(made), 12);
    made.op = Op::std;
    EXPECT_EQ(bytes(made), 16);
    made.missing = Missing::fixed;
    EXPECT_EQ(bytes(made), 16);
    made.missing = Missing::varying;
    EXPECT_EQ(bytes(made), 20);
    made.op = Op::mean;
    EXPECT_EQ(bytes(made), 12);
    made.inner = Op::max;
    EXPECT_EQ(bytes(made), 16);
    made.inner.reset();
    Accumulator uneven(made, 1000);
    EXPECT_EQ(uneven.bytes(), 12000);
    uneven.begin_sample(1);
    EXPECT_EQ(uneven.bytes(), 12000);
    uneven.begin_sample(3);
    EXPECT_EQ(uneven.bytes(), 16000);
    made.op = Op::instant;
    EXPECT_EQ(bytes(made), 8);
}

}  // namespace
}  // namespace thalweg::history
