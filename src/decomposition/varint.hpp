// Encodes small numbers in few bytes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace thalweg::detail {

inline void put_varint(std::vector<char>& to, std::uint64_t value) {
    for (; value >= 128; value >>= 7) to.push_back(value | 128);
    to.push_back(value);
}

inline std::uint64_t get_varint(const char*& at) {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
        const std::uint64_t byte = static_cast<unsigned char>(*at++);
        value |= (byte & 127) << shift;
        if (byte < 128) return value;
    }
}

/// Encodes a run of indices, given the end of the previous run: the gap between them, and the run's
/// length unless it is 1.
inline void put_run(std::vector<char>& to, std::int64_t& end, std::int64_t global,
                    std::int64_t length) {
    const std::uint64_t gap = global - end;
    put_varint(to, gap << 1 | (length > 1 ? 1 : 0));
    if (length > 1) put_varint(to, length);
    end = global + length;
}

inline void get_run(const char*& at, std::int64_t& end, std::int64_t& global,
                    std::int64_t& length) {
    const std::uint64_t word = get_varint(at);
    global = end + (word >> 1);
    length = (word & 1) != 0 ? get_varint(at) : 1;
    end = global + length;
}

}  // namespace thalweg::detail
