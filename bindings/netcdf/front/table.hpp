// The dispatch table of netCDF-C for user-defined formats, and the interface between the front,
// which registers such a table, and the engine, which writes the files that the front takes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>

namespace thalweg::netcdf {

using Lengths = const std::size_t*;   // start or count of a section
using Steps = const std::ptrdiff_t*;  // strides or a memory map

/**
 * netCDF's dispatch table, with the fields, order and signatures of versions 3 (the first 74
 * entries), 4 (76) and 5 (77). nc_type is int. Every entry returns a code of netCDF; ids of files
 * are those that netCDF gave to the program, with the group in the low 16 bits.
 */
struct Table {
    int model;
    int dispatch_version;

    int (*create)(const char* path, int mode, std::size_t initial_size, int base_pe,
                  std::size_t* chunk_size_hint, void* parameters, const Table* table, int ncid);
    int (*open)(const char* path, int mode, int base_pe, std::size_t* chunk_size_hint,
                void* parameters, const Table* table, int ncid);

    int (*redef)(int);
    int (*_enddef)(int, std::size_t h_minfree, std::size_t v_align, std::size_t v_minfree,
                   std::size_t r_align);
    int (*sync)(int);
    int (*abort)(int);
    int (*close)(int, void*);
    int (*set_fill)(int, int, int*);
    int (*inq_format)(int, int*);
    int (*inq_format_extended)(int, int*, int*);

    int (*inq)(int, int*, int*, int*, int*);
    int (*inq_type)(int, int, char*, std::size_t*);

    int (*def_dim)(int, const char*, std::size_t, int*);
    int (*inq_dimid)(int, const char*, int*);
    int (*inq_dim)(int, int, char*, std::size_t*);
    int (*inq_unlimdim)(int, int*);
    int (*rename_dim)(int, int, const char*);

    int (*inq_att)(int, int, const char*, int*, std::size_t*);
    int (*inq_attid)(int, int, const char*, int*);
    int (*inq_attname)(int, int, int, char*);
    int (*rename_att)(int, int, const char*, const char*);
    int (*del_att)(int, int, const char*);
    int (*get_att)(int, int, const char*, void*, int memory_type);
    int (*put_att)(int, int, const char*, int type, std::size_t, const void*, int memory_type);

    int (*def_var)(int, const char*, int, int, const int*, int*);
    int (*inq_varid)(int, const char*, int*);
    int (*rename_var)(int, int, const char*);

    int (*get_vara)(int, int, Lengths, Lengths, void*, int memory_type);
    int (*put_vara)(int, int, Lengths, Lengths, const void*, int memory_type);
    int (*get_vars)(int, int, Lengths, Lengths, Steps, void*, int memory_type);
    int (*put_vars)(int, int, Lengths, Lengths, Steps, const void*, int memory_type);
    int (*get_varm)(int, int, Lengths, Lengths, Steps, Steps, void*, int memory_type);
    int (*put_varm)(int, int, Lengths, Lengths, Steps, Steps, const void*, int memory_type);

    int (*inq_var_all)(int, int, char* name, int* type, int* dimensions, int* dimension_ids,
                       int* attributes, int* shuffle, int* deflate, int* deflate_level,
                       int* fletcher32, int* contiguous, std::size_t* chunk_sizes, int* no_fill,
                       void* fill_value, int* endianness, unsigned* filter, std::size_t* parameters,
                       unsigned* values);

    int (*var_par_access)(int, int, int);
    int (*def_var_fill)(int, int, int, const void*);

    int (*show_metadata)(int);
    int (*inq_unlimdims)(int, int*, int*);
    int (*inq_ncid)(int, const char*, int*);
    int (*inq_grps)(int, int*, int*);
    int (*inq_grpname)(int, char*);
    int (*inq_grpname_full)(int, std::size_t*, char*);
    int (*inq_grp_parent)(int, int*);
    int (*inq_grp_full_ncid)(int, const char*, int*);
    int (*inq_varids)(int, int*, int*);
    int (*inq_dimids)(int, int*, int*, int);
    int (*inq_typeids)(int, int*, int*);
    int (*inq_type_equal)(int, int, int, int, int*);
    int (*def_grp)(int, const char*, int*);
    int (*rename_grp)(int, const char*);
    int (*inq_user_type)(int, int, char*, std::size_t*, int*, std::size_t*, int*);
    int (*inq_typeid)(int, const char*, int*);

    int (*def_compound)(int, std::size_t, const char*, int*);
    int (*insert_compound)(int, int, const char*, std::size_t, int);
    int (*insert_array_compound)(int, int, const char*, std::size_t, int, int, const int*);
    int (*inq_compound_field)(int, int, int, char*, std::size_t*, int*, int*, int*);
    int (*inq_compound_fieldindex)(int, int, const char*, int*);
    int (*def_vlen)(int, const char*, int, int*);
    int (*put_vlen_element)(int, int, void*, std::size_t, const void*);
    int (*get_vlen_element)(int, int, const void*, std::size_t*, void*);
    int (*def_enum)(int, int, const char*, int*);
    int (*insert_enum)(int, int, const char*, const void*);
    int (*inq_enum_member)(int, int, int, char*, void*);
    int (*inq_enum_ident)(int, int, long long, char*);
    int (*def_opaque)(int, std::size_t, const char*, int*);
    int (*def_var_deflate)(int, int, int, int, int);
    int (*def_var_fletcher32)(int, int, int);
    int (*def_var_chunking)(int, int, int, const std::size_t*);
    int (*def_var_endian)(int, int, int);
    int (*def_var_filter)(int, int, unsigned, std::size_t, const unsigned*);
    int (*set_var_chunk_cache)(int, int, std::size_t, std::size_t, float);
    int (*get_var_chunk_cache)(int, int, std::size_t*, std::size_t*, float*);

    int (*inq_var_filter_ids)(int, int, std::size_t*, unsigned*);
    int (*inq_var_filter_info)(int, int, unsigned, std::size_t*, unsigned*);

    int (*def_var_quantize)(int, int, int, int);
    int (*inq_var_quantize)(int, int, int*, int*);

    int (*inq_filter_avail)(int, unsigned);
};

/// A program's call that creates or opens a file.
struct Call {
    std::string path;  ///< path as the program passed it, without leading blanks
    int mode = 0;      ///< mode of the program with all its bits
    /// NC_FORMAT_*, from the mode or nc_set_default_format; 0 if the file is opened.
    int format = 0;
    bool create = false;    ///< false: the call opens a file
    bool parallel = false;  ///< the call has a communicator
    MPI_Comm comm{};  ///< if parallel: during create and open the program's communicator, later a
                      ///< duplicate
    MPI_Info info{};  ///< likewise
    std::size_t initial_size = 0;            ///< argument of nc__create
    std::size_t* chunk_size_hint = nullptr;  ///< argument of nc__create and nc__open; may be null
    /// The program's nc_get_chunk_cache; null if its library lacks it.
    int (*chunk_cache)(std::size_t*, std::size_t*, float*) = nullptr;
    /// Reason why the engine does not take the file, such as "variable 'name' has strings".
    std::string reason;
};

/// Code of engine_begin() which means that the real library must have this file. It is not an
/// error, and no code of netCDF or the system has this value.
inline constexpr int step_aside = -9100;

/**
 * Creates or opens the file of a call by the engine.
 *
 * Returns 0, step_aside or an error on all ranks of the communicator alike. Before it returns
 * step_aside, it has set Call::reason, and has changed nothing in the file system. After an error
 * the id is not used again. The Call stays valid until the file is closed or aborted; the caller's
 * chunk_size_hint does not.
 */
int engine_begin(Call& call, int ncid);

/**
 * The engine: a table whose files are written and read by Thalweg. It has no create and open.
 *
 * Entries are called with the depth raised: netCDF calls that the engine makes itself, directly or
 * through libthalweg, reach the real library. After close or abort has returned 0 the id is free.
 * If close fails with another code than NC_EBADID, the front calls abort for the same id, and
 * ignores the result.
 */
extern const Table engine_table;

/**
 * Makes a file by the real library, or opens it there if `create` is false, for an id of the engine
 * that has to step aside later. After 0, every entry of file_table() with this id, and every later
 * call of the program, reaches that file; the engine repeats its definitions and data through
 * file_table() and forgets the id.
 * @param place   path of the file
 * @param reason  reason for the account of the files; empty if the file is in it already
 * @note Collective over the communicator of the call
 */
int forward(int ncid, const std::string& place, int mode, bool create, const std::string& reason);

/// Closes the file that forward() has made or opened, if any, so that it can be called again.
/// @note Collective over the communicator of the call
void take_back(int ncid);

/// Returns the table that gets the program's calls. It chooses between engine and library for each
/// file.
const Table& file_table();

/// Operations of the real library on a path.
enum class Use { create, open, remove };

/**
 * Prepares a path for an operation of the real library without communicator: the engine completes
 * its own file of this name, or one that a killed run has left. Returns true if the operation is an
 * open of a file that this process writes; engine_begin() must then get the call.
 * @param mode mode of the open
 */
bool engine_prepare(const char* path, int mode, Use use);

/// Prints the files that the process leaves incomplete because it exits without MPI_Finalize. It
/// cannot close them: other ranks may not be exiting, and objects of the library have been
/// destroyed.
void engine_finish();

}  // namespace thalweg::netcdf
