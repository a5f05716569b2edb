// SPDX-License-Identifier: Apache-2.0
#include "index/types.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace thalweg::detail {

namespace {
struct TypeRow {
    const char* name;
    std::size_t size;
};
constexpr std::array<TypeRow, 12> types{{{"", 0},
                                         {"byte", 1},
                                         {"char", 1},
                                         {"short", 2},
                                         {"int", 4},
                                         {"float", 4},
                                         {"double", 8},
                                         {"ubyte", 1},
                                         {"ushort", 2},
                                         {"uint", 4},
                                         {"int64", 8},
                                         {"uint64", 8}}};

template <class T>
void store(void* to, T value) {
    std::memcpy(to, &value, sizeof value);
}
}  // namespace

bool valid_type(int type) { return type >= TW_BYTE && type <= TW_UINT64; }

std::string no_type(int type) {
    switch (type) {
        case logical_type:
            return "a file cannot hold logical values: pass integers, such as merge(1_int8, "
                   "0_int8, mask)";
        case complex_type:
            return "a file cannot hold complex values: use two variables, real and imaginary parts";
        case other_type:
            return "a file cannot hold this Fortran type: pass integer, real or character; pass "
                   "the components of a derived type, and class(*) through select type";
        default: return "unknown type " + std::to_string(type);
    }
}

std::int64_t size_of(tw_type type) { return types[static_cast<std::size_t>(type)].size; }

const char* name_of(tw_type type) {
    return valid_type(type) ? types[static_cast<std::size_t>(type)].name : "unknown";
}

void default_fill(tw_type type, void* value) {
    switch (type) {
        case TW_BYTE: return store(value, std::int8_t(-127));
        case TW_CHAR: return store(value, '\0');
        case TW_SHORT: return store(value, std::int16_t(-32767));
        case TW_INT: return store(value, std::int32_t(-2147483647));
        case TW_FLOAT: return store(value, 9.9692099683868690e+36f);
        case TW_DOUBLE: return store(value, 9.9692099683868690e+36);
        case TW_UBYTE: return store(value, std::uint8_t(255));
        case TW_USHORT: return store(value, std::uint16_t(65535));
        case TW_UINT: return store(value, std::uint32_t(4294967295U));
        case TW_INT64: return store(value, std::int64_t(-9223372036854775806LL));
        case TW_UINT64: return store(value, std::uint64_t(18446744073709551614ULL));
    }
}

void to_big_endian(tw_type type, void* value) {
    if constexpr (std::endian::native == std::endian::little) {
        auto* bytes = static_cast<char*>(value);
        std::reverse(bytes, bytes + size_of(type));
    }
}

}  // namespace thalweg::detail
