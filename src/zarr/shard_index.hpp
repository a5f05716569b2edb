// The index of a Zarr shard: the places of its chunks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "storage/places.hpp"

namespace thalweg::detail {

/// Returns the CRC-32C checksum (Castagnoli) of the bytes.
inline std::uint32_t crc32c(std::span<const char> bytes) {
    static const auto table = [] {
        std::array<std::uint32_t, 256> made{};
        for (std::uint32_t i = 0; i < made.size(); ++i) {
            made[i] = i;
            for (int bit = 0; bit < 8; ++bit)
                made[i] = (made[i] >> 1) ^ ((made[i] & 1) != 0 ? 0x82F63B78u : 0u);
        }
        return made;
    }();
    std::uint32_t crc = ~0u;
    for (const char c : bytes)
        crc = (crc >> 8) ^ table[(crc ^ static_cast<unsigned char>(c)) & 255];
    return ~crc;
}

/// Encodes the offset and size of each chunk, followed by a checksum. All numbers are
/// little-endian.
inline std::string shard_index(std::span<const ChunkPlace> chunks) {
    std::string index;
    const auto add = [&](std::uint64_t value, int bytes) {
        for (int i = 0; i < bytes; ++i) index += static_cast<char>(value >> (8 * i) & 255);
    };
    for (const ChunkPlace& chunk : chunks) {
        add(static_cast<std::uint64_t>(chunk.offset), 8);
        add(static_cast<std::uint64_t>(chunk.bytes), 8);
    }
    add(crc32c(index), 4);
    return index;
}

}  // namespace thalweg::detail
