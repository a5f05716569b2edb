/* The netCDF libraries of this process, and their functions.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THALWEG_REAL_H
#define THALWEG_REAL_H

#include "shim.h"

/* Functions of netCDF that the shim replaces or calls. Arguments of MPI's types are passed as
 * integers of the same size. */
#define THALWEG_REAL_FUNCTIONS(X)                                                                  \
    X(nc_create, (const char*, int, int*))                                                         \
    X(nc__create, (const char*, int, size_t, size_t*, int*))                                       \
    X(nc__create_mp, (const char*, int, size_t, int, size_t*, int*))                               \
    X(nc_open, (const char*, int, int*))                                                           \
    X(nc__open, (const char*, int, size_t*, int*))                                                 \
    X(nc__open_mp, (const char*, int, int, size_t*, int*))                                         \
    X(nc_create_par, (const char*, int, uintptr_t, uintptr_t, int*))                               \
    X(nc_open_par, (const char*, int, uintptr_t, uintptr_t, int*))                                 \
    X(nc_create_par_fortran, (const char*, int, int, int, int*))                                   \
    X(nc_open_par_fortran, (const char*, int, int, int, int*))                                     \
    X(nc_var_par_access, (int, int, int))                                                          \
    X(nc_def_var_chunking_ints, (int, int, int, int*))                                             \
    X(nc_inq_var_chunking_ints, (int, int, int*, int*))                                            \
    X(nc_set_var_chunk_cache_ints, (int, int, int, int, int))                                      \
    X(nc_get_var_chunk_cache_ints, (int, int, int*, int*, int*))                                   \
    X(nc_copy_att, (int, int, const char*, int, int))                                              \
    X(nc_copy_var, (int, int, int))                                                                \
    X(nc_reclaim_data, (int, int, void*, size_t))                                                  \
    X(nc_reclaim_data_all, (int, int, void*, size_t))                                              \
    X(nc_copy_data, (int, int, const void*, size_t, void*))                                        \
    X(nc_copy_data_all, (int, int, const void*, size_t, void**))                                   \
    X(nc_dump_data, (int, int, void*, size_t, char**))                                             \
    X(nc_close, (int))                                                                             \
    X(nc_delete, (const char*))                                                                    \
    X(nc_def_user_format, (int, void*, char*))                                                     \
    X(nc_abort, (int))                                                                             \
    X(nc_def_var_chunking, (int, int, int, const size_t*))                                         \
    X(nc_inq_var_chunking, (int, int, int*, size_t*))                                              \
    X(nc_set_var_chunk_cache, (int, int, size_t, size_t, float))                                   \
    X(nc_get_var_chunk_cache, (int, int, size_t*, size_t*, float*))                                \
    X(nc_inq_varndims, (int, int, int*))                                                           \
    X(nc_inq_att, (int, int, const char*, int*, size_t*))                                          \
    X(nc_get_att_string, (int, int, const char*, char**))                                          \
    X(nc_put_att_string, (int, int, const char*, size_t, const char**))                            \
    X(nc_free_string, (size_t, char**))

/* A netCDF library. If it lacks a function, the pointer to the function is null. */
struct library {
    struct thalweg_netcdf shared;
    struct link_map* map;
    int refused; /* registering the table has failed, so no call is taken */
#define X(name, arguments) int(*name) arguments;
    THALWEG_REAL_FUNCTIONS(X)
#undef X
};

/* Returns the library that a caller would have reached without the shim; null if there is none. The
 * caller is identified by the address to which its call returns. */
struct library* library_of(const void* caller);

/* Sets the library whose functions the shim or the front will call next on this thread. */
void act(struct thalweg_netcdf* library);

/* Sets the loaded object (shared library) of the front.
 * @param address  any address in it */
void set_front(const void* address);

/* Returns the function that a caller would have reached without the shim; null if there is none. */
void* real_function(const void* caller, const char* name);

/* Returns a function of the program's PnetCDF; null if there is none, or if this library
 * replaces it. Defined in names_pnetcdf.c. */
void* real_pnetcdf(const char* name);

/* Returns the loaded object that defines a name; null if none does. */
struct link_map* definer_of(const char* name);

/* Tests if an object defines a name, other than the objects whose sonames are in the list
 * `sonames`, which has the form "a:b". */
int other_defines(const char* name, const char* sonames);

/* Tests if the soname of a loaded object is in a list of the form "a:b". */
int soname_among(const struct link_map* map, const char* sonames);

#endif
