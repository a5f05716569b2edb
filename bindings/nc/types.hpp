// The external types: sizes, names, fill values, conversions.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <netcdf.h>

#include <cstddef>
#include <cstdint>
#include <string>

// The number types of typed functions: X(suffix, type in C, type in the file).
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

// The types of all functions: the number types, text, and, for functions without a suffix, the
// variable's own type.
#define THALWEG_NC_TYPES(X)                                                                        \
    X(, void, NC_NAT)                                                                              \
    X(_text, char, NC_CHAR)                                                                        \
    THALWEG_NC_NUMBER_TYPES(X)

static_assert(sizeof(long) == sizeof(long long), "long is NC_INT64");

namespace thalweg::nc {

// Returns the bytes of a value; 0 if the type cannot be read or written.
std::size_t size_of(nc_type type);

// Returns the name of an atomic type in netCDF-C: "int64".
const char* name_of_type(nc_type type);

// Returns netCDF's default fill value as bytes.
std::string default_fill(nc_type type);

// Converts n values by netCDF's rules; text only to text. NaN becomes an integer without an error:
// the one that x86 converts it to.
// fill: bytes of the value that replaces one that does not fit; empty: netCDF's default.
// any_sign: signed and unsigned bytes are not told apart, as in CDF-1 and CDF-2.
// Returns NC_NOERR, NC_ERANGE, NC_ECHAR or NC_EBADTYPE.
int convert(nc_type from, const void* source, nc_type to, void* target, std::int64_t n,
            const std::string& fill = "", bool any_sign = false);

// Tests if every value of one type is one of the other.
bool always_fits(nc_type from, nc_type to);

// Tests if netCDF converts values of one type to the other otherwise than the library, which
// takes NaN for a value that does not fit.
inline bool differs_from_library(nc_type from, nc_type to) {
    const auto is_floating = [](nc_type type) { return type == NC_FLOAT || type == NC_DOUBLE; };
    return is_floating(from) && !is_floating(to) && to != NC_CHAR;
}

}  // namespace thalweg::nc
