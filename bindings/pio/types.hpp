// The external types: sizes, names, fill values, conversions.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <netcdf.h>

#include <cstddef>
#include <cstdint>
#include <string>

// The number types of PIO's functions: X(suffix, type in C, type in the file).
#define THALWEG_PIO_NUMBER_TYPES(X)                                                                \
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

// The same, text, and of functions without a suffix the variable's own type.
#define THALWEG_PIO_TYPES(X)                                                                       \
    X(, void, NC_NAT)                                                                              \
    X(_text, char, NC_CHAR)                                                                        \
    THALWEG_PIO_NUMBER_TYPES(X)

static_assert(sizeof(long) == sizeof(long long), "long is NC_INT64");

namespace thalweg::pio {

// Bytes of a value; 0 if it is no type that can be read or written.
std::size_t size_of(nc_type type);

// netCDF's default fill value, as bytes.
std::string default_fill(nc_type type);

// Converts n values by netCDF's rules; text only to text. Returns NC_NOERR, NC_ERANGE (values that
// do not fit become the fill value), NC_ECHAR or NC_EBADTYPE.
int convert(nc_type from, const void* source, nc_type to, void* target, std::int64_t n);

// Whether every value of one type is one of the other.
bool always_fits(nc_type from, nc_type to);

}  // namespace thalweg::pio
