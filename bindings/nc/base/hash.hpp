// A hash of numbers that is the same on all ranks.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "nc/base/shape.hpp"

namespace thalweg::nc {

using Key = std::pair<std::uint64_t, std::uint64_t>;

namespace hashing {

inline std::uint64_t mix(std::uint64_t h) {
    h ^= h >> 33U;
    h *= 0xff51afd7ed558ccdULL;
    h ^= h >> 33U;
    h *= 0xc4ceb9fe1a85ec53ULL;
    return h ^ (h >> 33U);
}

__extension__ using Wide = unsigned __int128;

inline std::uint64_t folded(std::uint64_t a, std::uint64_t b) {
    const Wide product = static_cast<Wide>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

inline constexpr std::uint64_t secret[] = {0x9e3779b97f4a7c15ULL, 0xbf58476d1ce4e5b9ULL,
                                           0x94d049bb133111ebULL, 0xd6e8feb86659fd93ULL};

}  // namespace hashing

// Returns a 128-bit hash of numbers, computed by four independent chains of products.
template <class Number>
Key hash_of(const Number* numbers, std::size_t n, std::uint64_t seed) {
    const auto number = [&](std::size_t i) { return static_cast<std::uint64_t>(numbers[i]); };
    using namespace hashing;
    std::uint64_t h[4];
    for (std::size_t k = 0; k < 4; k++) h[k] = mix(seed + secret[k]);
    std::size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __builtin_prefetch(numbers + i + 1024);  // the processor's own prefetching ends at a page
#pragma GCC unroll 4
        for (std::size_t k = 0; k < 4; k++)
            h[k] = folded(number(i + 2 * k) ^ secret[k], number(i + 2 * k + 1) ^ h[k]);
    }
    for (; i < n; i++) h[i % 4] = folded(number(i) ^ secret[i % 4], mix(h[i % 4] + i));
    return {mix(folded(h[0] ^ secret[1], h[1]) + mix(folded(h[2] ^ secret[3], h[3]))),
            mix(folded(h[0] ^ secret[2], h[2]) + mix(folded(h[1] ^ secret[0], h[3])))};
}

inline Key hash_of(const Shape& numbers, std::uint64_t seed) {
    return hash_of(numbers.data(), numbers.size(), seed);
}

}  // namespace thalweg::nc
