// Checks a program's requests for the storage of a netCDF-4 variable, with netCDF's codes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "nc/definitions/table.hpp"

namespace thalweg::nc {

// Numbers of filters that the HDF Group has registered.
inline constexpr unsigned deflate_filter = 1, shuffle_filter = 2, fletcher_filter = 3,
                          szip_filter = 4, bzip2_filter = 307, zstd_filter = 32015;

// The following functions change the storage of a variable. They throw NC_EINVAL, NC_EFILTER,
// NC_EBADCHUNK or NC_ERANGE.
void set_deflate(Storage& s, const Variable& v, bool deflate, int level);
// @param lengths  lengths of the chunks; may be empty; 0: the library chooses
void set_chunking(Storage& s, const Table& table, const Variable& v, int layout,
                  const std::vector<Index>& lengths);
void set_endian(Storage& s, const Variable& v, int endian);
void set_quantize(Storage& s, const Variable& v, int mode, int digits);
// Tests if the library can apply a filter without HDF5.
bool is_own_filter(unsigned id);
void set_filter(Storage& s, const Variable& v, unsigned id, std::vector<unsigned> parameters);

// Returns the filters of a variable in the order of their application.
std::vector<Filter> filters_of(const Storage& s);

}  // namespace thalweg::nc
