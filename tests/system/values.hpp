// Values of all netCDF types, made from hashes, so that any rank knows the value of any element.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "thalweg/thalweg.h"

inline const std::vector<tw_type>& cdf2_types() {
    static const std::vector<tw_type> types{TW_BYTE, TW_CHAR,  TW_SHORT,
                                            TW_INT,  TW_FLOAT, TW_DOUBLE};
    return types;
}

inline const std::vector<tw_type>& number_types() {
    static const std::vector<tw_type> types{TW_BYTE,  TW_SHORT,  TW_INT,  TW_FLOAT, TW_DOUBLE,
                                            TW_UBYTE, TW_USHORT, TW_UINT, TW_INT64, TW_UINT64};
    return types;
}

inline const std::vector<tw_type>& all_types() {
    static const std::vector<tw_type> types{TW_BYTE,  TW_CHAR,   TW_SHORT, TW_INT,
                                            TW_FLOAT, TW_DOUBLE, TW_UBYTE, TW_USHORT,
                                            TW_UINT,  TW_INT64,  TW_UINT64};
    return types;
}

inline const char* type_name(tw_type type) {
    static const char* const names[] = {"?",      "byte",  "char",   "short", "int",   "float",
                                        "double", "ubyte", "ushort", "uint",  "int64", "uint64"};
    return names[type >= TW_BYTE && type <= TW_UINT64 ? type : 0];
}

inline std::int64_t type_size(tw_type type) {
    static const std::int64_t sizes[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
    return sizes[type];
}

inline bool is_floating(tw_type type) { return type == TW_FLOAT || type == TW_DOUBLE; }

/// Returns the smallest value of an integer type; for a floating-point type, the smallest integer
/// that the tests use with it.
inline std::int64_t lowest(tw_type type) {
    switch (type) {
        case TW_BYTE: return std::numeric_limits<std::int8_t>::min();
        case TW_SHORT: return std::numeric_limits<std::int16_t>::min();
        case TW_INT: return std::numeric_limits<std::int32_t>::min();
        case TW_INT64:
        case TW_FLOAT:
        case TW_DOUBLE: return std::numeric_limits<std::int64_t>::min();
        default: return 0;
    }
}

inline std::uint64_t highest(tw_type type) {
    switch (type) {
        case TW_BYTE: return std::numeric_limits<std::int8_t>::max();
        case TW_CHAR:
        case TW_UBYTE: return std::numeric_limits<std::uint8_t>::max();
        case TW_SHORT: return std::numeric_limits<std::int16_t>::max();
        case TW_USHORT: return std::numeric_limits<std::uint16_t>::max();
        case TW_INT: return std::numeric_limits<std::int32_t>::max();
        case TW_UINT: return std::numeric_limits<std::uint32_t>::max();
        case TW_INT64: return std::numeric_limits<std::int64_t>::max();
        default: return std::numeric_limits<std::uint64_t>::max();
    }
}

template <class T>
void put_value(void* to, T value) {
    std::memcpy(to, &value, sizeof value);
}

/// Stores an integer that is given as bits: two's complement, or unsigned for unsigned types.
inline void put_integer(void* to, tw_type type, std::uint64_t bits) {
    switch (type) {
        case TW_BYTE:
        case TW_CHAR:
        case TW_UBYTE: put_value(to, static_cast<std::uint8_t>(bits)); break;
        case TW_SHORT:
        case TW_USHORT: put_value(to, static_cast<std::uint16_t>(bits)); break;
        case TW_INT:
        case TW_UINT: put_value(to, static_cast<std::uint32_t>(bits)); break;
        default: put_value(to, bits); break;
    }
}

inline void put_floating(void* to, tw_type type, double value) {
    if (type == TW_FLOAT)
        put_value(to, static_cast<float>(value));
    else
        put_value(to, value);
}

/// Stores a value of type `memory` that fits the type `file`. The hash h selects extremes,
/// fractions, values that must be rounded, and NaN and infinities if both types have them.
inline void make_value(void* to, tw_type memory, tw_type file, std::uint64_t h) {
    const std::uint64_t kind = h % 16;
    h /= 16;
    if (memory == TW_CHAR) {
        put_value(to, static_cast<std::uint8_t>(h));
        return;
    }
    if (is_floating(memory) && is_floating(file)) {
        const double fraction =
            static_cast<double>(h % 0x100000000ULL) / 4294967296.0 - 0.5;  // 32 bits: float rounds
        double value = std::ldexp(fraction, static_cast<int>(h / 0x100000000ULL % 120) - 60);
        if (kind == 0) value = 0.0;
        if (kind == 1) value = -0.0;
        if (kind == 2)
            value = std::numeric_limits<float>::denorm_min() * static_cast<double>(h % 64);
        if (kind == 3) value = std::numeric_limits<float>::max();
        if (kind == 4) value = -static_cast<double>(std::numeric_limits<float>::max());
        if (kind == 5) value = std::numeric_limits<double>::quiet_NaN();
        // When netCDF-C converts an infinity, it counts as a value that does not fit.
        if (kind == 6 && memory == file) value = std::numeric_limits<double>::infinity();
        put_floating(to, memory, value);
        return;
    }
    const std::int64_t low = std::max(lowest(memory), lowest(file));
    const std::uint64_t high = std::min(highest(memory), highest(file));
    if (is_floating(memory)) {
        // use integers that both floating-point types represent exactly, with quarters that are cut
        // off
        const double bound = 4194304.0;
        const double from = std::max(static_cast<double>(low), -bound);
        const double till = std::min(static_cast<double>(high), bound);
        double value = from + std::floor(static_cast<double>(h % 0x100000000ULL) / 4294967296.0 *
                                         (till - from + 1));
        value += 0.25 * static_cast<double>(h / 0x100000000ULL % 4);
        if (kind == 0) value = from;
        if (kind == 1) value = till;
        put_floating(to, memory, std::clamp(value, from, till));
        return;
    }
    std::uint64_t span = high - static_cast<std::uint64_t>(low);  // modulo 2^64, like the sum below
    std::uint64_t offset =
        span == std::numeric_limits<std::uint64_t>::max() ? h * 16 + kind : h % (span + 1);
    if (kind == 0) offset = 0;
    if (kind == 1) offset = span;
    if (kind < 6 && kind > 1) offset = std::min(span, h % 100);
    put_integer(to, memory, static_cast<std::uint64_t>(low) + offset);
}
