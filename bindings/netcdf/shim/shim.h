/* What the shim and the front know of each other. The shim is preloaded in every process and needs
 * libc alone; the front is loaded when the first file is taken.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THALWEG_SHIM_H
#define THALWEG_SHIM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { thalweg_shim_interface = 2 };

/* Most netCDF libraries of one process that are served. */
enum { thalweg_most_libraries = 4 };

/* A netCDF library that this process has loaded. */
struct thalweg_netcdf {
    void* handle;     /* handle from dlopen */
    const char* path; /* path of its file */
    int index;        /* 0 to thalweg_most_libraries - 1 */
    int slot;         /* mode bit of the slot with the table; 0: none */
    int version;      /* version of the table */
};

/* How a call names its communicator. */
enum thalweg_communicator { thalweg_no_comm, thalweg_c_comm, thalweg_fortran_comm };

/* A call that creates or opens a file, as the program made it. */
struct thalweg_call {
    struct thalweg_netcdf* library;
    int create; /* 0: the call opens a file */
    int mode;
    enum thalweg_communicator kind;
    uintptr_t comm, info; /* values of MPI's types, as they were passed */
    size_t initial_size;  /* argument of nc__create */
    size_t* chunk_size_hint;
};

/* The owner of a file id that a library has given out. */
enum thalweg_owner {
    thalweg_not_taken, /* the library itself */
    thalweg_forwarded, /* the library, under another id */
    thalweg_engine,
    thalweg_ended /* the engine, after a close that failed: nc_abort has to free the id */
};

/* Services of the shim for the front. */
struct thalweg_shim {
    int interface;
    int forward_all;     /* the engine takes no files */
    int* (*depth)(void); /* counter of this thread; while it is above 0, no call is taken */
    const struct thalweg_call* (*call)(void);    /* the call that this thread makes; NULL: none */
    void (*act)(struct thalweg_netcdf* library); /* comes before a file is made by the library */
    int (*tells)(void);                          /* returns 0 if this rank prints no lines */
    int forward_pnetcdf;                         /* no file of PnetCDF's names is the engine's */
    /* Tests if a call of PnetCDF's names is to be taken. */
    int (*takes_pnetcdf)(const char* path, int mode);
    /* Returns a function of PnetCDF that the program would have reached; null if there is none. */
    void* (*real_pnetcdf)(const char* name);
};

/* Services of the front for the shim. */
struct thalweg_front {
    /* Registers the table in a library and sets its slot and version. Returns 0, or says why not in
     * a text that stays. */
    const char* (*attach)(struct thalweg_netcdf* library);
    int (*mpi_runs)(void); /* 0: the front's MPI is not initialized */
    enum thalweg_owner (*owner)(const struct thalweg_netcdf* library, int id);
    /* Returns the id by which the library knows a forwarded file; of any other, the id itself. */
    int (*inner)(const struct thalweg_netcdf* library, int id);
    int (*var_par_access)(const struct thalweg_netcdf* library, int id, int variable, int access);
    /* Prepares a path that the library is about to use; use: 0 create, 1 open, 2 remove. Returns 1
     * if the call has to come to the table. */
    int (*prepare)(const char* path, int mode, int use);
    /* Functions for PnetCDF's names, in the order of the list that the build makes of them; null if
     * the front knows none. */
    void* const* pnetcdf;
    int pnetcdf_count;
};

/* The front's entry. Returns null if the interfaces differ. */
typedef const struct thalweg_front* thalweg_front_begin_function(const struct thalweg_shim* shim);
thalweg_front_begin_function thalweg_front_netcdf;

/* The depth of this thread, in the shim: whoever raises it reaches the real library. */
int* thalweg_shim_depth(void);

#ifdef __cplusplus
}
#endif

#endif
