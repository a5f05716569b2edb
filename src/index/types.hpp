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
/// Stores netCDF's default fill value of a type in `value`, in the machine's byte order (netCDF
/// User's Guide, "Fill Values").
void default_fill(tw_type type, void* value);
/// Converts a value from the machine's byte order to big-endian.
void to_big_endian(tw_type type, void* value);

}  // namespace thalweg::detail
