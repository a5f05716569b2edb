// A sum of numbers that does not depend on their order, nor on how they are divided among ranks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace thalweg::history {

/// A sum of doubles as integers. The exponents of doubles are divided into bins of 40 bits. A sum
/// keeps the bin of the largest absolute value and the two bins below it: each number is rounded to
/// a multiple of the smallest unit kept, at least 79 bits below the largest number, and the rest is
/// exact.
class ExactSum {
public:
    /// Adds numbers. @param values  a multiple of four numbers, filled up with zeros
    void add(std::span<const double> values);
    /// Returns bits that show the largest bin, and numbers that are not finite. Sums have the same
    /// bins if their bits are combined by bitwise or.
    std::int64_t bins() const { return (top_ < 0 ? 0 : std::int64_t{1} << top_) | special_; }

    /// The parts of a sum in given bins, which are added to those of other ranks.
    using Words = std::array<std::int64_t, 4>;
    Words words(std::int64_t bins) const;
    /// Returns the sum of added parts, rounded once.
    static double value(std::int64_t bins, std::span<const std::int64_t> words);

private:
    __extension__ using Wide = __int128;
    void raise(int top);
    void add_special(std::span<const double> values);

    int top_ = -1;  ///< largest bin; -1: nothing has been added
    std::int64_t special_ = 0;
    std::array<Wide, 3> parts_{};  ///< multiples of the units of the bins, largest bin first
};

}  // namespace thalweg::history
