// SPDX-License-Identifier: Apache-2.0
#include "history/reductions/exact_sum.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace thalweg::history {

/// Bits of a bin. The unit of bin b is 2^(width * b + lowest).
constexpr int width = 40, lowest = -1074;
constexpr std::int64_t all_bins = (std::int64_t{1} << 53) - 1,
                       digits = (std::int64_t{1} << width) - 1;
constexpr std::int64_t nan_bit = std::int64_t{1} << 53, plus_bit = nan_bit << 1,
                       minus_bit = nan_bit << 2;

/// Largest count of numbers that are added together: the sums of their parts are exact in double.
constexpr std::size_t together = 4096, lanes = 4;

static constexpr double power_of_2(int exponent) {
    return std::bit_cast<double>(static_cast<std::int64_t>(exponent + 1023) << 52);
}

/// Returns the bin of a number's leading bit. The lowest bins count as one.
static int bin_of(double value) {
    const auto exponent = static_cast<int>(std::bit_cast<std::uint64_t>(value) >> 52 & 0x7ff);
    // Numbers are below half the unit of the next bin, so raise() by 3 or more drops only zeros.
    return std::max(2, (exponent + 52) / width);
}

static int top_of(std::int64_t bins) {
    return 63 - std::countl_zero(static_cast<std::uint64_t>(bins & all_bins));
}

void ExactSum::raise(int top) {
    if (top_ >= 0)
        for (int k = 2; k >= 0; --k) parts_[k] = k < top - top_ ? 0 : parts_[k - (top - top_)];
    top_ = top;
}

void ExactSum::add(std::span<const double> values) {
    if (values.size() > together) {
        add(values.first(together));
        return add(values.subspan(together));
    }
    const double* const x = values.data();
    const std::size_t n = values.size();
    std::array<double, lanes> most{}, poison{};
    for (std::size_t i = 0; i < n; i += lanes)
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            const double size = std::abs(x[i + lane]);
            most[lane] = size > most[lane] ? size : most[lane];
            poison[lane] += x[i + lane] * 0;
        }
    // Numbers that are not finite leave a NaN.
    if (poison[0] + poison[1] + poison[2] + poison[3] != 0) return add_special(values);
    const double largest = std::ranges::max(most);
    if (largest == 0) return;
    if (const int bin = bin_of(largest); bin > top_) raise(bin);

    // Adding and subtracting 1.5 * 2^52 units rounds to a multiple of the unit.
    constexpr double half = 1.5 * power_of_2(52);
    constexpr double round0 = half, round1 = half * power_of_2(-width),
                     round2 = half * power_of_2(-2 * width);
    const double scale = power_of_2(-lowest - width * top_);
    std::array<double, lanes> sum0{}, sum1{}, sum2{};
    for (std::size_t i = 0; i < n; i += lanes)
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            const double all = x[i + lane] * scale;
            const double part0 = (all + round0) - round0;
            const double rest0 = all - part0;
            const double part1 = (rest0 + round1) - round1;
            sum0[lane] += part0;
            sum1[lane] += part1;
            sum2[lane] += (rest0 - part1 + round2) - round2;
        }
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        parts_[0] += static_cast<std::int64_t>(sum0[lane]);
        parts_[1] += static_cast<std::int64_t>(sum1[lane] * power_of_2(width));
        parts_[2] += static_cast<std::int64_t>(sum2[lane] * power_of_2(2 * width));
    }
}

/// Adds numbers of which some are infinite or NaN.
void ExactSum::add_special(std::span<const double> values) {
    for (const double value : values) {
        if (std::isnan(value)) special_ |= nan_bit;
        if (std::isinf(value)) special_ |= value > 0 ? plus_bit : minus_bit;
        if (std::isfinite(value)) add(std::array<double, lanes>{value});
    }
}

ExactSum::Words ExactSum::words(std::int64_t bins) const {
    ExactSum same = *this;
    if (top_ >= 0) same.raise(top_of(bins));
    Words words{};
    for (int k = 2; k >= 0; --k) {
        words[k + 1] = static_cast<std::int64_t>(same.parts_[k] & digits);
        const Wide carry = same.parts_[k] >> width;
        if (k > 0)
            same.parts_[k - 1] += carry;
        else
            words[0] = static_cast<std::int64_t>(carry);
    }
    return words;
}

double ExactSum::value(std::int64_t bins, std::span<const std::int64_t> words) {
    const std::int64_t infinite = bins & (plus_bit | minus_bit);
    if ((bins & nan_bit) != 0 || infinite == (plus_bit | minus_bit))
        return std::numeric_limits<double>::quiet_NaN();
    if (infinite != 0)
        return std::copysign(std::numeric_limits<double>::infinity(),
                             infinite == plus_bit ? 1.0 : -1.0);
    if ((bins & all_bins) == 0) return 0;
    const Wide low = words[3] & digits;
    Wide high = ((Wide{words[0]} << width) + words[1]) * (Wide{1} << width) + words[2] +
                (words[3] >> width);
    int exponent = lowest + width * (top_of(bins) - 1);
    if (high > Wide{1} << 64 || high < -(Wide{1} << 64)) {
        high |= low != 0 ? 1 : 0;  // for the rounding it only matters if low is 0
    } else {
        high = high * (Wide{1} << width) + low;
        exponent -= width;
    }
    return std::ldexp(static_cast<double>(high), exponent);
}

}  // namespace thalweg::history
