// SPDX-License-Identifier: Apache-2.0
#include "decomposition/cover.hpp"

#include <algorithm>
#include <array>

namespace thalweg::detail {

namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::uint64_t prime = (std::uint64_t{1} << 61) - 1;

constexpr std::uint64_t reduced(Wide x) {
    const std::uint64_t sum =
        static_cast<std::uint64_t>(x & prime) + static_cast<std::uint64_t>(x >> 61);
    return sum >= prime ? sum - prime : sum;
}
constexpr std::uint64_t times(std::uint64_t a, std::uint64_t b) { return reduced(Wide{a} * b); }
constexpr std::uint64_t plus(std::uint64_t a, std::uint64_t b) { return reduced(Wide{a} + b); }
constexpr std::uint64_t minus(std::uint64_t a, std::uint64_t b) { return plus(a, prime - b); }

constexpr std::uint64_t power(std::uint64_t x, std::int64_t n) {
    std::uint64_t result = 1;
    for (; n > 0; n /= 2) {
        if (n % 2 != 0) result = times(result, x);
        x = times(x, x);
    }
    return result;
}

/// The fixed point at which each element's monomial is evaluated: one coordinate for each
/// dimension.
constexpr std::array<std::uint64_t, max_dims> point = [] {
    std::array<std::uint64_t, max_dims> x{};
    std::uint64_t state = 0x9e3779b97f4a7c15;
    for (std::uint64_t& coordinate : x) {
        state = times(state % prime, 0x1b873593cc9e2d51 % prime) + 0x85ebca6b;
        coordinate = state % prime;
    }
    return x;
}();

/// Returns the sum of the powers x^low to x^(low + count - 1), times x - 1.
std::uint64_t powers(std::uint64_t x, std::int64_t low, std::int64_t count) {
    return times(power(x, low), minus(power(x, count), 1));
}

}  // namespace

void Cover::add(const Box& box) {
    std::uint64_t product = 1;
    for (int d = 0; d < box.nd; ++d)
        product = times(product, powers(point[d], box.low[d], box.count[d]));
    sum_ = plus(sum_, product);
}

void Cover::add(const IndexList& list) {
    const std::uint64_t x = point[0];
    std::uint64_t at = 1;  // x to the power of `reached`
    std::int64_t reached = 0;
    const auto go_to = [&](std::int64_t index) {
        at = times(at, power(x, index - reached));
        reached = index;
        return at;
    };
    for (const Run& run : list.runs) {
        const std::uint64_t begin = go_to(run.global());
        sum_ = plus(sum_, minus(go_to(run.end()), begin));
    }
}

bool Cover::is_all(std::int64_t low, std::int64_t high, std::span<const std::int64_t> end) {
    // Powers of a coordinate repeat at some exponent, but not below 2^52.
    constexpr std::int64_t most = std::int64_t{1} << 50;
    if (std::ranges::any_of(end, [](std::int64_t n) { return n > most; })) return false;
    std::uint64_t product = 1;
    for (std::size_t d = 0; d < end.size(); ++d)
        product = times(product, powers(point[d], 0, end[d]));
    return reduced((Wide{static_cast<std::uint64_t>(high)} << half_bits) +
                   static_cast<std::uint64_t>(low)) == product;
}

}  // namespace thalweg::detail
