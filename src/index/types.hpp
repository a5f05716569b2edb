// The external types of netCDF: sizes, names and default fill values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "thalweg/thalweg.h"

namespace thalweg::detail {

/// Byte order of values in a file.
enum class Order { native, big_endian };

bool valid_type(int type);
/// Fortran types that a file cannot hold. They have numbers so that an error message can name them.
enum ForeignType : int { logical_type = -1001, complex_type = -1002, other_type = -1003 };
/// Returns an explanation why a type is not valid, and what to use instead.
std::string no_type(int type);
/// Returns the size in bytes of a value, which is the same in memory and in the file.
std::int64_t size_of(tw_type type);
const char* name_of(tw_type type);
/// Calls act with a value of the C++ type of numbers of a type, and returns the result; the result
/// is a default value for TW_CHAR.
template <class Act>
auto with_number(tw_type type, Act&& act) {
    switch (type) {
        case TW_BYTE: return act(std::int8_t{});
        case TW_SHORT: return act(std::int16_t{});
        case TW_INT: return act(std::int32_t{});
        case TW_FLOAT: return act(float{});
        case TW_DOUBLE: return act(double{});
        case TW_UBYTE: return act(std::uint8_t{});
        case TW_USHORT: return act(std::uint16_t{});
        case TW_UINT: return act(std::uint32_t{});
        case TW_INT64: return act(std::int64_t{});
        case TW_UINT64: return act(std::uint64_t{});
        case TW_CHAR: break;
    }
    return decltype(act(double{}))();
}

/// Stores netCDF's default fill value of a type in `value`, in the machine's byte order (netCDF
/// User's Guide, "Fill Values").
void default_fill(tw_type type, void* value);
/// Converts a value from the machine's byte order to big-endian.
void to_big_endian(tw_type type, void* value);

}  // namespace thalweg::detail
