// Bits in words, as ranks combine them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace thalweg::detail {

inline void set_bit(std::span<std::int64_t> words, std::size_t i) {
    words[i / 64] |= std::uint64_t(1) << (i % 64);
}

/// Returns the bit; false beyond the last word.
inline bool has_bit(std::span<const std::int64_t> words, std::size_t i) {
    return i / 64 < words.size() && ((static_cast<std::uint64_t>(words[i / 64]) >> (i % 64)) & 1);
}

}  // namespace thalweg::detail
