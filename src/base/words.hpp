// Converts 64-bit numbers to the bytes of messages, and back.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace thalweg::detail {

inline std::vector<char> to_bytes(std::span<const std::int64_t> words) {
    std::vector<char> bytes(words.size_bytes());
    if (!bytes.empty()) std::memcpy(bytes.data(), words.data(), bytes.size());
    return bytes;
}

inline std::vector<std::int64_t> to_words(std::span<const char> bytes) {
    std::vector<std::int64_t> words(bytes.size() / sizeof(std::int64_t));
    if (!words.empty()) std::memcpy(words.data(), bytes.data(), words.size() * sizeof words[0]);
    return words;
}

}  // namespace thalweg::detail
