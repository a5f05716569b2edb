// Computes a number that shows if the ranks together hold each element of a space exactly once. The
// ranks need not compare their elements.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "decomposition/index_list.hpp"

namespace thalweg::detail {

/**
 * Checks that the ranks together hold each element of a space once, by one sum per rank. Each
 * element corresponds to a monomial. A rank adds up the values of its elements' monomials at a
 * fixed point of a prime field. The check succeeds if the ranks hold as many elements as the space
 * has, and if their sums add up to the sum over the whole space. It then errs only if a polynomial
 * that is not zero is zero at that point, which has a probability of its degree divided by 2^61
 * (Schwartz 1980, Zippel 1979).
 */
class Cover {
public:
    /// Adds a box of a space.
    void add(const Box& box);
    /// Adds a list of indices of a space, as row-major positions.
    void add(const IndexList& list);

    /// low() and high() return the lower and the upper half of this rank's sum. Added up over the
    /// ranks, they are the arguments of is_all().
    std::int64_t low() const { return static_cast<std::int64_t>(sum_ & half); }
    std::int64_t high() const { return static_cast<std::int64_t>(sum_ >> half_bits); }
    /// Tests if the ranks' halves, added up, are the sum over all elements whose indices are below
    /// `end` in each dimension. A list has one dimension.
    static bool is_all(std::int64_t low, std::int64_t high, std::span<const std::int64_t> end);

private:
    static constexpr int half_bits = 31;
    static constexpr std::uint64_t half = (std::uint64_t{1} << half_bits) - 1;
    std::uint64_t sum_ = 0;
};

}  // namespace thalweg::detail
