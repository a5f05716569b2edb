// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace thalweg::detail {

/// Encodes bytes (RFC 4648, section 4).
inline std::string base64(std::span<const char> bytes) {
    constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        unsigned word = 0;
        for (std::size_t k = 0; k < 3; ++k)
            word =
                word << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0);
        for (std::size_t k = 0; k < 4; ++k)
            text += i + k <= bytes.size() ? digits[word >> (18 - 6 * k) & 63] : '=';
    }
    return text;
}

/// Decodes a base64 text and appends the result to `bytes`.
/// @return false if the text is not base64
inline bool add_decoded(std::string_view text, std::string& bytes) {
    if (text.size() % 4 != 0) return false;
    const auto value = [](char c) -> int {
        if (c >= 'A' && c <= 'Z') return c - 'A';
        if (c >= 'a' && c <= 'z') return c - 'a' + 26;
        if (c >= '0' && c <= '9') return c - '0' + 52;
        return c == '+' ? 62 : c == '/' ? 63 : -1;
    };
    for (std::size_t i = 0; i < text.size(); i += 4) {
        const bool last = i + 4 == text.size();
        const int padding = last ? (text[i + 3] == '=') + (text[i + 2] == '=') : 0;
        unsigned word = 0;
        for (std::size_t k = 0; k < 4; ++k) {
            const int digit = k + padding >= 4 ? 0 : value(text[i + k]);
            if (digit < 0) return false;
            word = word << 6 | static_cast<unsigned>(digit);
        }
        for (int k = 0; k < 3 - padding; ++k)
            bytes += static_cast<char>(word >> (16 - 8 * k) & 255);
    }
    return true;
}

}  // namespace thalweg::detail
