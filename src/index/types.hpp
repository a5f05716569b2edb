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
/// Types of Fortran that a file cannot hold, for the error message.
enum ForeignType : int { logical_type = -1001, complex_type = -1002, other_type = -1003 };
/// Returns the reason why a type is not valid, and what to use instead.
std::string no_type(int type);
/// Returns the bytes of one value, which are as many in memory as in the file.
std::int64_t size_of(tw_type type);
const char* name_of(tw_type type);
/// Writes netCDF's default fill value of a type, in the machine's byte order (netCDF User's Guide,
/// "Fill Values").
void default_fill(tw_type type, void* value);
/// Converts a value to big-endian byte order.
void to_big_endian(tw_type type, void* value);

}  // namespace thalweg::detail
