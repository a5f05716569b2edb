// The storage of a netCDF-4 file's variables: checks what the program asks for, with netCDF's
// codes, and brings it into the form of the library's settings.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "nc/definitions/table.hpp"

namespace thalweg::nc {

// Returns the reason why the library cannot write a netCDF-4 file with these definitions; empty if
// it can.
std::string beyond_library(const Table& table);

// Tests if a byte order is that of this machine.
bool is_native(int endian);

// Returns the settings of a variable for tw_set_var; empty if the program has not set any.
std::string settings_of(const Table& table, const Variable& variable);

// Chooses the chunk lengths that are 0 or missing: 1 along an unlimited dimension, otherwise the
// length of the dimension. The slowest lengths are reduced, so that a chunk has at most 4 MiB.
std::vector<std::size_t> complete_chunks(const Table& table, const Variable& variable,
                                         std::vector<std::size_t> chunks);

// Returns the storage that a variable will have which is not in the file yet. For properties that
// are chosen only when the file is made, returns netCDF's defaults.
Storage expected_storage(const Table& table, const Variable& variable);

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
