// A number by which ranks see, without comparing what they hold, that together they hold each
// element of a space exactly once.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "decomposition/index_list.hpp"

namespace thalweg::detail {

/**
 * A check that ranks together hold each element of a space once, by a sum per rank. Each element
 * has a monomial of its own; the sum adds the values of the monomials of all held elements at a
 * fixed point of a prime field. If as many elements are held as the space has, and the ranks' sums
 * add up to that of the space, each element is held once. Otherwise a polynomial that is not zero
 * would be zero at that point, which has a probability of its degree to 2^61 (Schwartz 1980, Zippel
 * 1979).
 */
class Cover {
public:
    /// Adds a box of a space.
    void add(const Box& box);
    /// Adds a list of the indices of a space, as row-major positions.
    void add(const IndexList& list);

    /// Returns the lower half of the sum; high() the upper one. Their sums over the ranks are those
    /// of all elements held.
    std::int64_t low() const { return static_cast<std::int64_t>(sum_ & half); }
    std::int64_t high() const { return static_cast<std::int64_t>(sum_ >> half_bits); }
    /// Tests if such sums are those of all elements whose indices are below `end` in each
    /// dimension. A list has one dimension.
    static bool is_all(std::int64_t low, std::int64_t high, std::span<const std::int64_t> end);

private:
    static constexpr int half_bits = 31;
    static constexpr std::uint64_t half = (std::uint64_t{1} << half_bits) - 1;
    std::uint64_t sum_ = 0;
};

}  // namespace thalweg::detail
