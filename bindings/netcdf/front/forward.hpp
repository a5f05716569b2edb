// Entries of netCDF's dispatch table for files that are forwarded to the real library. Declared
// here are only those for which netCDF has no function with the same arguments.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "front/files.hpp"

namespace thalweg::netcdf {

/// Creates or opens the file of a call by the real library.
/// @param id receives the library's id
/// @return netCDF's code
/// @note Collective over the call's communicator
int make_forwarded(const File& file, bool create, int mode, int* id);

/// netCDF's code for a function that a library lacks.
inline constexpr int not_built = -128;

namespace forwarding {

using Section = const std::size_t*;
using Strides = const std::ptrdiff_t*;

int get_att(const File&, int id, int variable, const char* name, void* values, int memory);
int put_att(const File&, int id, int variable, const char* name, int type, std::size_t count,
            const void* values, int memory);
int get_vara(const File&, int id, int variable, Section start, Section count, void* values,
             int memory);
int put_vara(const File&, int id, int variable, Section start, Section count, const void* values,
             int memory);
int get_vars(const File&, int id, int variable, Section start, Section count, Strides stride,
             void* values, int memory);
int put_vars(const File&, int id, int variable, Section start, Section count, Strides stride,
             const void* values, int memory);
int get_varm(const File&, int id, int variable, Section start, Section count, Strides stride,
             Strides map, void* values, int memory);
int put_varm(const File&, int id, int variable, Section start, Section count, Strides stride,
             Strides map, const void* values, int memory);
int inq_var_all(const File&, int id, int variable, char* name, int* type, int* dimensions,
                int* dimension_ids, int* attributes, int* shuffle, int* deflate, int* deflate_level,
                int* fletcher32, int* contiguous, std::size_t* chunk_sizes, int* no_fill,
                void* fill_value, int* endianness, unsigned* filter, std::size_t* parameters,
                unsigned* values);
int inq_ncid(const File&, int id, const char* name, int* group);
int inq_grps(const File&, int id, int* count, int* groups);
int inq_grp_parent(const File&, int id, int* parent);
int inq_grp_full_ncid(const File&, int id, const char* name, int* group);
int def_grp(const File&, int id, const char* name, int* group);

}  // namespace forwarding

}  // namespace thalweg::netcdf
