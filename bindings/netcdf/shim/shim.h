/* The functions by which the shim and the front call each other. The shim is preloaded in every
 * process and needs only libc. It loads the front when it takes the first file.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THALWEG_SHIM_H
#define THALWEG_SHIM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { thalweg_shim_interface = 3 };

/* The bits of a mode that select the slot of a user-defined format, in all versions of netCDF-C:
 * UDF0 to UDF9, or, with bit 0x40, a number that begins at bit 19. */
enum { thalweg_user_formats = 0x40 | 0x80 | 0x10000 | 0x3f80000 };

/* Other bits of netCDF's modes. */
enum {
    thalweg_diskless = 0x8,
    thalweg_mapped = 0x10,
    thalweg_cdf5 = 0x20,
    thalweg_classic_model = 0x100,
    thalweg_cdf2 = 0x200,
    thalweg_share = 0x800,
    thalweg_netcdf4 = 0x1000,
    thalweg_mpi_io = 0x2000,
    thalweg_in_memory = 0x8000,
    /* Data that are not in a file, or in a file of another program's format. */
    thalweg_elsewhere = thalweg_diskless | thalweg_mapped | thalweg_user_formats | thalweg_in_memory
};

/* Largest number of netCDF libraries in one process that the shim serves. */
enum { thalweg_most_libraries = 4 };

/* A netCDF library that this process has loaded. */
struct thalweg_netcdf {
    void* handle;     /* handle from dlopen */
    const char* path; /* path of its file */
    int index;        /* number of the library, from 0 to thalweg_most_libraries - 1 */
    int slot;    /* bits of thalweg_user_formats under which the table is registered; 0: none */
    int version; /* version of the dispatch table */
};

/* The form in which a call passes its communicator. */
enum thalweg_communicator { thalweg_no_comm, thalweg_c_comm, thalweg_fortran_comm };

/* A call that creates or opens a file, as the program made it. */
struct thalweg_call {
    struct thalweg_netcdf* library;
    int create; /* 0: the call opens a file */
    int mode;
    enum thalweg_communicator kind;
    uintptr_t comm, info; /* values of MPI's types, as the program passed them */
    size_t initial_size;  /* argument of nc__create */
    size_t* chunk_size_hint;
    int reached; /* nonzero: the table has the call, so the front decides who gets the file */
};

/* The owner of a file id in a library. */
enum thalweg_owner {
    thalweg_not_taken, /* the library itself */
    thalweg_forwarded, /* the library, under another id */
    thalweg_engine,
    thalweg_ended /* the engine, after a failed close: nc_abort must free the id */
};

/* Differs from all codes of netCDF. */
enum { thalweg_call_not_taken = -2147483647 };

/* Functions and settings of the shim that the front uses. */
struct thalweg_shim {
    int interface;
    int forward_all;     /* nonzero: the engine takes no files */
    int* (*depth)(void); /* nesting depth of this thread; while it is above 0, calls are passed
                          * on to the real library */
    struct thalweg_call* (*call)(void);          /* the call that this thread is making; NULL:
                                                  * none */
    void (*act)(struct thalweg_netcdf* library); /* notes that this thread next calls the library
                                                  * to create or open a file */
    int (*tells)(void);                          /* returns 0 if this rank may not print lines */
    int forward_pnetcdf;                         /* nonzero: the engine takes no files that are
                                                  * opened by PnetCDF */
    /* Tests if a call of PnetCDF must be offered to the front. */
    int (*takes_pnetcdf)(const char* path, int mode);
    /* Returns the function of PnetCDF that the program would have reached; null if there is none.
     */
    void* (*real_pnetcdf)(const char* name);
};

/* Functions of the front that the shim uses. */
struct thalweg_front {
    /* Registers the table in a library, and sets the library's slot and version. Returns NULL, or
     * the reason of a failure, which stays valid. */
    const char* (*attach)(struct thalweg_netcdf* library);
    int (*mpi_runs)(void); /* returns 0 if the front's MPI is not initialized */
    /* Lets the other ranks of a call's communicator leave the file to their library, because this
     * rank does so. Collective with their calls of the table. */
    void (*decline)(const struct thalweg_call* call);
    enum thalweg_owner (*owner)(const struct thalweg_netcdf* library, int id);
    /* Returns the library's id of a forwarded file; for any other file, the id itself. */
    int (*inner)(const struct thalweg_netcdf* library, int id);
    /* Sets the access of a variable. Returns thalweg_call_not_taken if the front does not have the
     * file. */
    int (*var_par_access)(const struct thalweg_netcdf* library, int id, int variable, int access);
    /* Prepares a path that the library is about to use.
     * @param use  0 create, 1 open, 2 remove
     * @return 1 if the table must get the call */
    int (*prepare)(const char* path, int mode, int use);
    /* Functions that replace those of PnetCDF, in the order of the list that the build generates;
     * null if the front was built without them. */
    void* const* pnetcdf;
    int pnetcdf_count;
};

/* Type of the front's entry function. It returns null if the versions of the interface differ. */
typedef const struct thalweg_front* thalweg_front_begin_function(const struct thalweg_shim* shim);
thalweg_front_begin_function thalweg_front_netcdf;

/* Returns the nesting depth of this thread in the shim. While it is above 0, calls reach the real
 * library. */
int* thalweg_shim_depth(void);

#ifdef __cplusplus
}
#endif

#endif
