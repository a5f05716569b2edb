/* Thalweg: status codes, types and handles.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A part of thalweg.h, which states the conventions.
 */
#ifndef THALWEG_BASE_H
#define THALWEG_BASE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The table of status codes: X(name, value, text). The names and texts in all languages are
 * generated from it. */
#define TW_STATUS_TABLE(X)                                                                         \
    X(TW_OK, 0, "no error")                                                                        \
    X(TW_EHANDLE, -1, "not a valid handle")                                                        \
    X(TW_EARG, -2, "invalid argument")                                                             \
    X(TW_ENOTFOUND, -3, "no such dimension, variable or attribute")                                \
    X(TW_EEXISTS, -4, "the name is already in use")                                                \
    X(TW_ESHAPE, -5, "shape, size or number of dimensions does not match")                         \
    X(TW_EBOUNDS, -6, "index out of bounds")                                                       \
    X(TW_EOVERLAP, -7, "an element is held more than once")                                        \
    X(TW_ETYPE, -8, "unknown type, or conversion between text and numbers")                        \
    X(TW_ERANGE, -9, "a value is out of range for its type")                                       \
    X(TW_ESTATE, -10, "the call is not allowed in this state")                                     \
    X(TW_EMISMATCH, -11, "the ranks' calls or arguments differ")                                   \
    X(TW_EMISSING, -12, "the data of a variable are missing")                                      \
    X(TW_EFORMAT, -13, "the file is invalid, or its format cannot hold this")                      \
    X(TW_EIO, -14, "I/O error")                                                                    \
    X(TW_EINUSE, -15, "the file is in use")                                                        \
    X(TW_ESETTING, -16, "unknown setting or invalid value")                                        \
    X(TW_ECLOSED, -17, "the file is closed")                                                       \
    X(TW_ENOMEM, -18, "out of memory")                                                             \
    X(TW_EMPI, -19, "an MPI call failed")                                                          \
    X(TW_ENETCDF, -20, "a netCDF library call failed")                                             \
    X(TW_EUNSUPPORTED, -21, "not supported")                                                       \
    X(TW_EINTERNAL, -22, "internal error")                                                         \
    X(TW_ECHECKSUM, -23, "checksum mismatch")                                                      \
    X(TW_EDIFFERENT, -24, "the definitions differ from the file's")                                \
    X(TW_ECANCELED, -25, "a rank has cancelled the session")

/* In C++ the enumerations have the underlying type int, so that callers in other languages can pass
 * any number. */
#ifdef __cplusplus
#define TW_ENUM : int
#else
#define TW_ENUM
#endif

/** Status codes, which every function that can fail returns. */
#define TW_STATUS_ENUM(name, value, text) name = value,
enum tw_status TW_ENUM { TW_STATUS_TABLE(TW_STATUS_ENUM) };
#undef TW_STATUS_ENUM
typedef enum tw_status tw_status;

/** External and in-memory types; the values are netCDF's (nc_type). */
enum tw_type TW_ENUM {
    TW_BYTE = 1,
    TW_CHAR = 2,
    TW_SHORT = 3,
    TW_INT = 4,
    TW_FLOAT = 5,
    TW_DOUBLE = 6,
    TW_UBYTE = 7,
    TW_USHORT = 8,
    TW_UINT = 9,
    TW_INT64 = 10,
    TW_UINT64 = 11
};
typedef enum tw_type tw_type;

typedef struct tw_session_impl* tw_session;
typedef struct tw_decomposition_impl* tw_decomposition;
typedef struct tw_file_impl* tw_file;
typedef struct tw_restart_impl* tw_restart;

/** Returns the name and text of a status code, e.g. "TW_EBOUNDS: index out of bounds". Never NULL.
 *  Local; any thread may call it. */
const char* tw_strerror(int status);

#ifdef __cplusplus
}
#endif

#endif
