// The external types: sizes, names, fill values, conversions.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <netcdf.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "definitions/definitions.hpp"

// Numeric types for which there are typed functions: X(suffix, type in C, type in the file).
#define THALWEG_NC_NUMBER_TYPES(X)                                                                 \
    X(_schar, signed char, NC_BYTE)                                                                \
    X(_short, short, NC_SHORT)                                                                     \
    X(_int, int, NC_INT)                                                                           \
    X(_long, long, NC_INT64)                                                                       \
    X(_float, float, NC_FLOAT)                                                                     \
    X(_double, double, NC_DOUBLE)                                                                  \
    X(_uchar, unsigned char, NC_UBYTE)                                                             \
    X(_ushort, unsigned short, NC_USHORT)                                                          \
    X(_uint, unsigned int, NC_UINT)                                                                \
    X(_longlong, long long, NC_INT64)                                                              \
    X(_ulonglong, unsigned long long, NC_UINT64)

// All types for which there are functions: the numeric types, text, and, without a suffix, the
// variable's own type.
#define THALWEG_NC_TYPES(X)                                                                        \
    X(, void, NC_NAT)                                                                              \
    X(_text, char, NC_CHAR)                                                                        \
    THALWEG_NC_NUMBER_TYPES(X)

static_assert(sizeof(long) == sizeof(long long), "long is NC_INT64");

namespace thalweg::nc {

using detail::Format;  // with the values of NC_FORMAT_...
using detail::is_netcdf4;
using detail::name_of;
using detail::Order;
Format format_named(const std::string& name);
inline int number_of(Format format) { return static_cast<int>(format); }
Format format_numbered(int number);
// Tests if a format has only the types of netCDF's classic data model, in which signed and unsigned
// bytes are not distinguished.
inline bool has_classic_types(Format format) { return !detail::has_new_types(format); }

// Returns the size in bytes of a value; 0 if values of this type cannot be read or written.
std::size_t size_of(nc_type type);

// Returns netCDF-C's name of an atomic type, for example "int64".
const char* name_of_type(nc_type type);

// Returns netCDF's default fill value as bytes.
std::string default_fill(nc_type type);

// Converts n values by netCDF's rules. Text can only be converted to text. NaN does not fit an
// integer. `fill` contains the bytes of the value that replaces values which do not fit; if it is
// empty, netCDF's default is used. With `any_sign`, signed and unsigned bytes are not
// distinguished, as in CDF-1 and CDF-2. The target gets the byte order `order`. Returns NC_NOERR,
// NC_ERANGE, NC_ECHAR or NC_EBADTYPE.
int convert(nc_type from, const void* source, nc_type to, void* target, std::int64_t n,
            const std::string& fill = "", bool any_sign = false, Order order = Order::native);

// Tests if one type can represent all values of another.
bool always_fits(nc_type from, nc_type to);

}  // namespace thalweg::nc
