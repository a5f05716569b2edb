// SPDX-License-Identifier: Apache-2.0
#include "base/crc32c.hpp"

#include <array>
#include <cstring>

namespace thalweg::detail {

namespace {

using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

/// Makes the tables of eight bytes at a time: table k advances a byte by k further zero bytes.
constexpr Tables make_tables() {
    Tables t{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        t[0][i] = i;
        for (int bit = 0; bit < 8; ++bit)
            t[0][i] = (t[0][i] >> 1) ^ ((t[0][i] & 1) != 0 ? 0x82F63B78u : 0u);
    }
    for (std::size_t k = 1; k < t.size(); ++k)
        for (std::size_t i = 0; i < 256; ++i)
            t[k][i] = (t[k - 1][i] >> 8) ^ t[0][t[k - 1][i] & 255];
    return t;
}

constexpr Tables tables = make_tables();

}  // namespace

std::uint32_t crc32c(std::span<const char> bytes) {
    const auto* at = reinterpret_cast<const unsigned char*>(bytes.data());
    std::size_t left = bytes.size();
    std::uint32_t crc = ~0u;
    for (; left >= 8; left -= 8, at += 8) {
        std::uint32_t next = 0;
        for (std::size_t k = 0; k < 4; ++k)
            next ^= tables[7 - k][(at[k] ^ (crc >> (8 * k))) & 255] ^ tables[3 - k][at[4 + k]];
        crc = next;
    }
    for (; left > 0; --left, ++at) crc = (crc >> 8) ^ tables[0][(crc ^ *at) & 255];
    return ~crc;
}

}  // namespace thalweg::detail
