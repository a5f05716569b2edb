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

// Samples 1, missing, 3, missing.
TEST(Accumulator, Missing) {
    const auto of = [](Op op, double min_valid = 0) {
        Statistic made = statistic(op, Missing::varying);
        made.min_valid = min_valid;
        return result_of(made, {1, 1e20, 3, 1e20});
    };
    EXPECT_EQ(of(Op::mean), 2);
    EXPECT_EQ(of(Op::max), 3);
    EXPECT_EQ(of(Op::sum), 4);
    EXPECT_EQ(of(Op::mean, 0.5), 2);
    EXPECT_EQ(of(Op::mean, 0.6), fill);
    EXPECT_EQ(of(Op::max, 0.6), fill);
}

// A window without valid samples is followed by one with valid samples.
TEST(Accumulator, NothingValid) {
    for (const Op op : {Op::mean, Op::min, Op::max, Op::sum, Op::rms, Op::std, Op::range}) {
        One one(statistic(op, Missing::varying));
        EXPECT_EQ(one.result(), fill);
        one.accumulator.reset();
        EXPECT_EQ(one.add(1e20).add(1e20).result(), fill);
        one.accumulator.reset();
        one.add(4);
        EXPECT_EQ(one.result(), op == Op::std || op == Op::range ? 0 : 4);
    }
}

// A missing value is never a minimum or maximum, however large it is.
TEST(Accumulator, Extremes) {
    EXPECT_EQ(result_of(statistic(Op::max, Missing::varying), {1e20, 2, 3}), 3);
    EXPECT_EQ(result_of(statistic(Op::max, Missing::varying, -1e34), {2, -1e34, 3}), 3);
    EXPECT_EQ(result_of(statistic(Op::min, Missing::varying), {1e20, 2, 3}), 2);
    EXPECT_EQ(result_of(statistic(Op::min, Missing::varying, -1e34), {2, -1e34, 3}), 2);
    EXPECT_EQ(result_of(statistic(Op::max), {-5, -7}), -5);
    EXPECT_EQ(result_of(statistic(Op::range), {-5, 2, -7}), 9);
    EXPECT_TRUE(std::signbit(result_of(statistic(Op::min), {-0.0, 0.0})));
    EXPECT_FALSE(std::signbit(result_of(statistic(Op::min), {0.0, -0.0})));
}

// The result is NaN if a sample is NaN, unless NaN is the missing value.
TEST(Accumulator, NotANumber) {
    for (const Op op : {Op::mean, Op::min, Op::max, Op::sum, Op::std}) {
        EXPECT_TRUE(std::isnan(result_of(statistic(op), {nan, 1, 2})));
        EXPECT_TRUE(std::isnan(result_of(statistic(op), {1, nan, 2})));
        EXPECT_TRUE(std::isnan(result_of(statistic(op, Missing::varying), {1, nan, 2})));
    }
    EXPECT_EQ(result_of(statistic(Op::mean, Missing::varying, nan), {nan, 1, 2}), 1.5);
    EXPECT_EQ(result_of(statistic(Op::min, Missing::varying, nan), {nan, 1, 2}), 1);
    EXPECT_EQ(result_of(statistic(Op::max, Missing::varying, -nan), {nan, 1, 2}), 2);
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

TEST(Accumulator, Deviations) {
    EXPECT_EQ(result_of(statistic(Op::std), {2, 4, 4, 4, 5, 5, 7, 9}), 2);
    EXPECT_EQ(result_of(statistic(Op::std), {1e8, 1e8 + 1}), 0.5);
    Statistic sample = statistic(Op::std);
    sample.counts = true;
    sample.ddof = 1;
    EXPECT_DOUBLE_EQ(result_of(sample, {2, 4, 4, 4, 5, 5, 7, 9}), 2.138089935299395);
    EXPECT_EQ(result_of(sample, {2}), fill);
}

// Computes the mean of daily maxima.
TEST(Accumulator, Inner) {
    Statistic made = statistic(Op::mean);
    made.inner = Op::max;
    One one(made);
    one.add(1).add(3);
    EXPECT_TRUE(one.accumulator.end_inner(1).ok());
    one.add(2).add(8);
    EXPECT_TRUE(one.accumulator.end_inner(1).ok());
    EXPECT_TRUE(one.accumulator.end_inner(1).ok());  // a window without samples
    EXPECT_EQ(one.result(), 5.5);
    EXPECT_EQ(result_of(statistic(Op::max), {1, 3, 2, 8}), 8);
    made.missing = Missing::varying;
    One masked(made);
    masked.add(1e20).add(1e20);
    EXPECT_TRUE(masked.accumulator.end_inner(1).ok());
    masked.add(2).add(1e20);
    EXPECT_TRUE(masked.accumulator.end_inner(1).ok());
    EXPECT_EQ(masked.result(), 2);
}

TEST(Accumulator, Weights) {
    EXPECT_EQ(One(statistic(Op::mean)).add(10, 1).add(2, 3).result(), 4);
    EXPECT_EQ(One(statistic(Op::mean)).add(10, 0).add(2, 3).result(), 2);
    EXPECT_EQ(One(statistic(Op::sum)).add(10, 1).add(2, 3).result(), 12);
    EXPECT_EQ(One(statistic(Op::mean)).add(10, 0).result(), fill);
    // Weights that the model sends are not integers, so weights are summed up instead of counted.
    Statistic counted = statistic(Op::mean, Missing::varying);
    counted.counts = true;
    EXPECT_EQ(One(counted).add(10, 1.5).add(20, 0.5).result(), 12.5);
    EXPECT_EQ(One(counted).add(10, 0.5).result(), 10);
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

// The value of an instant does not depend on its weight.
TEST(Accumulator, Instants) {
    for (const Op op : {Op::instant, Op::once}) {
        One one(statistic(op));
        EXPECT_EQ(one.add(0.1, 1800).result(), 0.1);
        EXPECT_EQ(One(statistic(op)).add(-infinity).result_in_float(), -infinity);
        EXPECT_TRUE(One(statistic(op)).add(infinity).status.ok());
        EXPECT_TRUE(std::isnan(One(statistic(op)).add(nan).result()));
        EXPECT_TRUE(std::signbit(One(statistic(op)).add(-0.0).result()));
        EXPECT_EQ(One(statistic(op, Missing::fixed)).add(1e20).result(), fill);
        Statistic whole = statistic(op, Missing::varying);
        whole.type = TW_INT64;
        whole.missing_value = value_of(std::int64_t{-9});
        Accumulator sums(whole, 2);
        const std::int64_t samples[] = {(std::int64_t{1} << 53) + 1, -9};
        sums.begin_sample(1);
        sums.add({0, 2, samples, 1, nullptr});
        ASSERT_TRUE(sums.end_sample().ok());
        Status status;
        const auto found = finish(sums, 2, TW_INT64, std::int64_t{-1}, status);
        EXPECT_TRUE(status.ok());
        EXPECT_EQ(found[0], samples[0]);
        EXPECT_EQ(found[1], -1);
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

// Results replace the state of many elements, or are of a wider type than it.
TEST(Accumulator, ManyResults) {
    constexpr std::int64_t elements = 5000;
    for (const Missing missing : {Missing::none, Missing::fixed, Missing::varying})
        for (const Op op : {Op::mean, Op::max, Op::range, Op::rms, Op::std}) {
            Statistic made = statistic(op, missing);
            made.type = TW_FLOAT;
            made.results = TW_DOUBLE;
            made.missing_value = value_of(-1e30f);
            Accumulator many(made, elements);
            const auto value = [](std::int64_t i, int sample) {
                return static_cast<float>(i * (sample + 1) % 4999);
            };
            const auto is_missing = [&](std::int64_t i) {
                return missing != Missing::none && i % 7 == 0;
            };
            for (const bool wide : {false, true}) {
                many.reset();
                for (int sample = 0; sample < 3; ++sample) {
                    std::vector<float> data(elements);
                    for (std::int64_t i = 0; i < elements; ++i)
                        data[i] = is_missing(i) ? -1e30f : value(i, sample);
                    many.begin_sample(1);
                    many.add({0, elements, data.data(), 1, nullptr});
                    ASSERT_TRUE(many.end_sample().ok());
                }
                Status status;
                std::vector<double> found;
                if (wide) {
                    found = finish(many, elements, TW_DOUBLE, fill, status);
                } else {
                    const auto in_float = finish(many, elements, TW_FLOAT, -5.0f, status);
                    found.assign(in_float.begin(), in_float.end());
                }
                EXPECT_TRUE(status.ok());
                for (std::int64_t i = 0; i < elements; ++i) {
                    if (is_missing(i)) {
                        EXPECT_EQ(found[i], wide ? fill : -5);
                        continue;
                    }
                    made.missing = Missing::none;
                    made.type = TW_DOUBLE;
                    One one(made);
                    for (int sample = 0; sample < 3; ++sample) one.add(value(i, sample));
                    ASSERT_EQ(found[i], wide ? one.result() : one.result_in_float()) << i;
                }
            }
        }
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
