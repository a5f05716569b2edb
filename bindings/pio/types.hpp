// The external types: sizes, names, fill values, conversions.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <netcdf.h>

#include <cstddef>
#include <cstdint>
#include <string>

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
