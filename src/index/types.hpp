// The external types of netCDF: sizes, names and default fill values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "thalweg/thalweg.h"

namespace thalweg {

/// Byte order of values in a file.
enum class Order { native, big_endian };

bool valid_type(int type);
/// Bytes of one value, in memory and in the file alike.
std::size_t size_of(tw_type type);
const char* name_of(tw_type type);
/// netCDF's default fill value of a type, in the machine's byte order (netCDF User's Guide, "Fill
/// Values").
void default_fill(tw_type type, void* value);
/// Reverses the bytes of a value of a type where the machine is little-endian.
void to_big_endian(tw_type type, void* value);

}  // namespace thalweg
