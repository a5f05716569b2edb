/* The interface of CFIO (Huang et al. 2014), implemented with Thalweg: programs written for CFIO
 * compile and run unchanged. docs/cfio.md says what is the same and what differs.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every function returns 0 or one of the codes below; the reason is printed to standard error.
 * All ranks of MPI_COMM_WORLD call cfio_init and cfio_finalize; only the clients call the other
 * functions. cfio_create, cfio_enddef, cfio_close and cfio_finalize wait for the other clients, the
 * others for nobody. An error that a call returned on one client only is returned again, on all
 * clients, by cfio_close of that file (or by cfio_finalize, if it belongs to no file). cfio_close
 * does not wait until the file is written: an error after it is returned by the next cfio_create,
 * cfio_enddef or cfio_close of any file, which has nevertheless done its own work, and again by
 * cfio_finalize.
 */
#ifndef CFIO_H
#define CFIO_H

#include <mpi.h>
#include <stddef.h>
#include <stdlib.h> /* not used here, but programs rely on it */

/* Defines NC_GLOBAL and the modes of cfio_create, or takes them from pnetcdf.h if that exists, as
 * CFIO's own header does. */
#if defined(__has_include)
#if __has_include(<pnetcdf.h>)
#include <pnetcdf.h>
#elif __has_include(<netcdf.h>)
#include <netcdf.h>
#endif
#endif
#ifndef NC_GLOBAL
typedef int nc_type;
#define NC_NAT 0
#define NC_BYTE 1
#define NC_CHAR 2
#define NC_SHORT 3
#define NC_INT 4
#define NC_FLOAT 5
#define NC_DOUBLE 6
#define NC_UNLIMITED 0L
#define NC_GLOBAL (-1)
#define NC_CLOBBER 0
#define NC_NOCLOBBER 0x0004
#define NC_64BIT_DATA 0x0020
#define NC_64BIT_OFFSET 0x0200
#define NC_NETCDF4 0x1000
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Size of the send buffer of CFIO's clients; not used here. */
#define CLIENT_BUF_SIZE ((size_t)512 * 1024 * 1024)

#define CFIO_PROC_CLIENT 1
#define CFIO_PROC_SERVER 2
#define CFIO_PROC_BLANK 3

/* Types of variables and attributes, with netCDF's values. */
typedef int cfio_type;
#define CFIO_BYTE 1
#define CFIO_CHAR 2
#define CFIO_SHORT 3
#define CFIO_INT 4
#define CFIO_FLOAT 5
#define CFIO_DOUBLE 6

/** Converts a type to netCDF's; NC_NAT if it is not a type. */
static inline nc_type cfio_type_to_nc(cfio_type type) {
    return type >= CFIO_BYTE && type <= CFIO_DOUBLE ? (nc_type)type : NC_NAT;
}

/** Sets size to the number of bytes of a value. */
#define cfio_types_size(size, type)                                                                \
    do {                                                                                           \
        switch (type) {                                                                            \
            case CFIO_BYTE:                                                                        \
            case CFIO_CHAR: (size) = 1; break;                                                     \
            case CFIO_SHORT: (size) = 2; break;                                                    \
            case CFIO_INT:                                                                         \
            case CFIO_FLOAT: (size) = 4; break;                                                    \
            case CFIO_DOUBLE: (size) = 8; break;                                                   \
            default: break;                                                                        \
        }                                                                                          \
    } while (0)

#define CFIO_ERROR_NONE 0
#define CFIO_ERROR_MALLOC (-1)           /* out of memory */
#define CFIO_ERROR_INVALID_INIT_ARG (-3) /* cfio_init failed, or this rank is not a client */
#define CFIO_ERROR_ARG_NULL (-4)         /* an argument is NULL */
#define CFIO_ERROR_FINAL_AFTER_MPI (-200)
#define CFIO_ERROR_EXCEED_BOUND (-400) /* index out of bounds */
#define CFIO_ERROR_NC_NO_EXIST (-401)  /* no such file, dimension or variable */
#define CFIO_ERROR_VAR_NO_EXIST (-401)
#define CFIO_ERROR_NC                                                                              \
    (-500) /* the file cannot be created, cannot hold the data, or was not written                 \
            * \ */

/* Only the clients execute the code between CFIO_START and CFIO_END. */
#define CFIO_START(...) if (cfio_proc_type() == CFIO_PROC_CLIENT) {
#define CFIO_END(...) }

/**
 * Starts CFIO. World ranks 0 to x*y - 1 become clients, the next max(1, x*y / ratio) servers, the
 * rest blank. On a server the function returns when all clients have called cfio_finalize.
 * @return 0, or CFIO_ERROR_INVALID_INIT_ARG on every rank
 */
int cfio_init(int x_proc_num, int y_proc_num, int ratio);

int cfio_finalize(void);

/* Takes any arguments, because some programs pass their rank. */
#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
int cfio_proc_type(...);
#else
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wstrict-prototypes"
#endif
int cfio_proc_type();
#ifdef __clang__
#pragma clang diagnostic pop
#endif
#endif

/** @param cmode  netCDF's create mode: NC_NOCLOBBER, NC_64BIT_OFFSET, NC_64BIT_DATA; 0 is CDF-1 */
int cfio_create(const char* path, int cmode, int* ncid);

/** @param len  length; 0: unlimited */
int cfio_def_dim(int ncid, const char* name, size_t len, int* id);

/**
 * @param start, count  hints about the block that this client will put; not used, since
 *                      cfio_put_vara has its own
 */
int cfio_def_var(int ncid, const char* name, cfio_type type, int ndims, const int* dimids,
                 const size_t* start, const size_t* count, int* varid);

/** @param varid  NC_GLOBAL for an attribute of the file */
int cfio_put_att(int ncid, int varid, const char* name, cfio_type type, size_t len, const void* op);

int cfio_enddef(int ncid);
int cfio_inq_varid(int ncid, const char* name, int* varid);

/** Puts a block: indices from 0, slowest dimension first. The buffer can be reused on return. */
int cfio_put_vara_float(int ncid, int varid, int dim, const size_t* start, const size_t* count,
                        const float* p);
int cfio_put_vara_double(int ncid, int varid, int dim, const size_t* start, const size_t* count,
                         const double* p);
/* CFIO's own header lacks cfio_put_vara_int, so programs declare it themselves, without const. In
 * C++ a template therefore takes that name, and calls the following function. */
int thalweg_cfio_put_vara_int(int ncid, int varid, int dim, const size_t* start,
                              const size_t* count, const int* p);
#ifdef __cplusplus
extern "C++" {
/* This is a template, because a function could conflict with a declaration in the program. */
template <int = 0>
int cfio_put_vara_int(int ncid, int varid, int dim, const size_t* start, const size_t* count,
                      const int* p) {
    return thalweg_cfio_put_vara_int(ncid, varid, dim, start, count, p);
}
}
#else
int cfio_put_vara_int(int ncid, int varid, int dim, size_t* start, size_t* count, int* p);
#endif

/** Permits the library to count the records put so far, at the next collective call. */
int cfio_io_end(void);

int cfio_close(int ncid);

#ifdef __cplusplus
}
#endif

#endif
