// A hash of bytes that is the same on every machine: it is kept in files and compared by ranks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace thalweg::detail {

constexpr std::uint64_t hash_of_nothing = 0xcbf29ce484222325;

/// Returns the 64-bit FNV-1a hash.
/// @param before  hash of the bytes that come before
inline std::uint64_t hash_of(std::string_view bytes, std::uint64_t before = hash_of_nothing) {
    for (const char c : bytes) before = (before ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return before;
}

/// Returns a hash of numbers, faster than that of their bytes.
inline std::uint64_t hash_of_words(std::span<const std::int64_t> words, std::uint64_t before) {
    for (const std::int64_t word : words) {
        before = (before ^ static_cast<std::uint64_t>(word)) * 0x9e3779b97f4a7c15;
        before ^= before >> 29;
    }
    return before;
}

}  // namespace thalweg::detail
