// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

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

/// Decodes the only byte of an encoded text; 0 if it encodes none.
inline char byte_of_base64(const std::string& text) {
    for (int c = 0; c < 256; ++c)
        if (const char byte = static_cast<char>(c); base64({&byte, 1}) == text) return byte;
    return 0;
}

}  // namespace thalweg::detail
