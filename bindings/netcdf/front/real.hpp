// The functions of a netCDF library to which the table forwards.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "front/table.hpp"
#include "shim/shim.h"

namespace thalweg::netcdf {

// clang-format off
/// Entries of the table whose function nc_NAME has the same arguments.
#define THALWEG_PLAIN_ENTRIES(X)                                                                  \
    X(redef) X(_enddef) X(sync) X(set_fill) X(inq_format) X(inq_format_extended)                 \
    X(inq) X(inq_type) X(def_dim) X(inq_dimid) X(inq_dim) X(inq_unlimdim) X(rename_dim)          \
    X(inq_att) X(inq_attid) X(inq_attname) X(rename_att) X(del_att)                              \
    X(def_var) X(inq_varid) X(rename_var) X(var_par_access) X(def_var_fill) X(show_metadata)     \
    X(inq_unlimdims) X(inq_grpname) X(inq_grpname_full) X(inq_varids) X(inq_dimids)              \
    X(inq_typeids) X(rename_grp) X(inq_user_type) X(inq_typeid)                                  \
    X(def_compound) X(insert_compound) X(insert_array_compound) X(inq_compound_field)            \
    X(inq_compound_fieldindex) X(def_vlen) X(put_vlen_element) X(get_vlen_element)               \
    X(def_enum) X(insert_enum) X(inq_enum_member) X(inq_enum_ident) X(def_opaque)                \
    X(def_var_deflate) X(def_var_fletcher32) X(def_var_chunking) X(def_var_endian)               \
    X(def_var_filter) X(set_var_chunk_cache) X(get_var_chunk_cache) X(inq_var_filter_ids)        \
    X(inq_var_filter_info) X(def_var_quantize) X(inq_var_quantize) X(inq_filter_avail)

/// Entries whose last argument is the id of a group. They have the arguments of nc_NAME, as those
/// of the next two.
#define THALWEG_GROUP_ENTRIES(X) X(inq_ncid) X(inq_grp_parent) X(inq_grp_full_ncid) X(def_grp)
#define THALWEG_SPECIAL_ENTRIES(X) X(inq_grps) X(inq_type_equal)

/// Entries whose last argument is the type in memory: of nc_NAME_TYPE.
#define THALWEG_TYPED_ENTRIES(X) \
    X(get_att) X(get_vara) X(put_vara) X(get_vars) X(put_vars) X(get_varm) X(put_varm)
// clang-format on

/// Other functions. Arguments of MPI's types are passed as integers of the same size.
#define THALWEG_OTHER_FUNCTIONS(X)                                                                 \
    X(close, (int))                                                                                \
    X(initialize, ())                                                                              \
    X(abort, (int))                                                                                \
    X(create, (const char*, int, int*))                                                            \
    X(open, (const char*, int, int*))                                                              \
    X(_create, (const char*, int, std::size_t, std::size_t*, int*))                                \
    X(_open, (const char*, int, std::size_t*, int*))                                               \
    X(create_par, (const char*, int, MPI_Comm, MPI_Info, int*))                                    \
    X(open_par, (const char*, int, MPI_Comm, MPI_Info, int*))                                      \
    X(create_par_fortran, (const char*, int, int, int, int*))                                      \
    X(open_par_fortran, (const char*, int, int, int, int*))                                        \
    X(def_user_format, (int, const Table*, char*))                                                 \
    X(inq_user_format, (int, Table**, char*))                                                      \
    X(set_default_format, (int, int*))                                                             \
    X(get_chunk_cache, (std::size_t*, std::size_t*, float*))                                       \
    X(get_default_format, ())                                                                      \
    X(inq_var, (int, int, char*, int*, int*, int*, int*))                                          \
    X(inq_var_deflate, (int, int, int*, int*, int*))                                               \
    X(inq_var_fletcher32, (int, int, int*))                                                        \
    X(inq_var_chunking, (int, int, int*, std::size_t*))                                            \
    X(inq_var_fill, (int, int, int*, void*))                                                       \
    X(inq_var_endian, (int, int, int*))                                                            \
    X(inq_var_filter, (int, int, unsigned*, std::size_t*, unsigned*))

/// Number of types in memory: netCDF's 12 types, numbered from 1, and 0 for the variable's own
/// type.
inline constexpr int memory_types = 13;

/// The functions of one library. A function that the library lacks is null.
struct Real {
#define X(name) decltype(Table::name) name = nullptr;
    THALWEG_PLAIN_ENTRIES(X)
    THALWEG_GROUP_ENTRIES(X)
    THALWEG_SPECIAL_ENTRIES(X)
#undef X
#define X(name, arguments) int(*name) arguments = nullptr;
    THALWEG_OTHER_FUNCTIONS(X)
#undef X
    /// Functions nc_get_vara_TYPE and similar ones, indexed by the type in memory.
    int (*get_vara[memory_types])(int, int, Lengths, Lengths, void*) = {};
    int (*put_vara[memory_types])(int, int, Lengths, Lengths, const void*) = {};
    int (*get_vars[memory_types])(int, int, Lengths, Lengths, Steps, void*) = {};
    int (*put_vars[memory_types])(int, int, Lengths, Lengths, Steps, const void*) = {};
    int (*get_varm[memory_types])(int, int, Lengths, Lengths, Steps, Steps, void*) = {};
    int (*put_varm[memory_types])(int, int, Lengths, Lengths, Steps, Steps, const void*) = {};
    int (*get_att[memory_types])(int, int, const char*, void*) = {};
    /// The functions for texts and strings have other arguments, and are not called.
    int (*put_att[memory_types])(int, int, const char*, int, std::size_t, const void*) = {};
};

}  // namespace thalweg::netcdf
