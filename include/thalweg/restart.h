/* Thalweg: restarts, that is, arrays that a model registers once and writes and reads together.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A part of thalweg.h, which states the conventions.
 */
#ifndef THALWEG_RESTART_H
#define THALWEG_RESTART_H

#include "thalweg/array.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Creates a restart: the model registers its arrays once, and one call writes them all to a file,
 * or reads them from it, on any number of ranks. See docs/restarts.md.
 * @param settings  NULL or "name=value; ..." as for tw_create. Here durable=yes is the default;
 *                  checksum=no omits the checksums; publish, tile_files and quantize have no effect
 * @param restart   receives the handle, which belongs to the session; tw_finalize frees it
 * @return TW_OK, TW_EARG, TW_ESETTING, TW_EMISMATCH
 * @note Collective
 */
tw_status tw_restart_new(tw_session session, const char* settings, tw_restart* restart);

/** Frees the restart, not the arrays, and sets the handle to NULL unless it returns TW_ESTATE.
 *  Local.
 *  @return TW_OK, TW_EHANDLE, TW_ESTATE (a file is open: call tw_restart_close first) */
tw_status tw_restart_free(tw_restart* restart);

/** Defines a dimension that no decomposition names, for replicated arrays. This function, and those
 *  up to tw_restart_put_att_text, must be called with the same arguments on every rank. Local;
 *  tw_restart_write reports differences.
 *  @return TW_OK, TW_EARG, TW_EEXISTS, TW_ESHAPE (a length that is not positive) */
tw_status tw_restart_def_dim(tw_restart restart, const char* name, int64_t length);

/** Flags of tw_restart_add. */
enum tw_restart_flags TW_ENUM {
    TW_REQUIRED = 0,
    TW_OPTIONAL = 1,   /**< a file may lack the variable; a read then leaves the array unchanged */
    TW_COPIED = 2,     /**< copy the values now, for the next tw_restart_write; the array can be
                            reused when the call returns */
    TW_BY_POSITION = 4 /**< on reading, match dimensions by position instead of by name; their
                            lengths must be the same */
};

/**
 * Registers an array. If the name is already registered, the new array replaces the old one; the
 * type and dimensions must be the same. Local.
 * @param type           of the array, and in the file
 * @param dims           names in file order, slowest first; "" for a scalar
 * @param decomposition  which rank holds what; its dimensions are those of the variable, by name,
 *                       in any order, or by position (see tw_decompose). NULL: the variable is
 * replicated: every rank holds all of it, and rank 0's values are written; its dimensions must come
 * from other decompositions or tw_restart_def_dim
 * @param data           as for tw_put; every tw_restart_write and tw_restart_read uses it until the
 *                       restart is freed or the name is registered again; no two names may share
 *                       an array
 * @param n              number of elements at data, halos included; checked
 * @param flags          sum of enum tw_restart_flags. With TW_COPIED the library copies this rank's
 *                       part and does not use the array after the call, so one work array can serve
 *                       many variables. The copy is written once: register the variable again
 *                       before the next tw_restart_write. tw_restart_read skips such variables;
 *                       tw_restart_get reads them
 * @return TW_OK, TW_EARG, TW_EEXISTS (registered with another type or other dimensions),
 *         TW_ENOTFOUND (an unknown dimension), TW_ESHAPE, TW_ETYPE, TW_EHANDLE, TW_EOVERLAP
 *         (a decomposition made with TW_LIST_SHARED), TW_ENOMEM
 */
tw_status tw_restart_add(tw_restart restart, const char* name, tw_type type, const char* dims,
                         tw_decomposition decomposition, void* data, int64_t n, int flags);

/** As tw_restart_add, for an array of any strides. Local. */
tw_status tw_restart_add_array(tw_restart restart, const char* name, const char* dims,
                               tw_decomposition decomposition, tw_array array, int flags);

/** Settings of one registered variable in all files written from now on, as for tw_set_var:
 *  "fill=0; deflate=1". Elements that no rank holds get the fill value. Local, with the same
 *  arguments on every rank.
 *  @return TW_OK, TW_ESETTING (also: quantize, which would lose bits), TW_ENOTFOUND */
tw_status tw_restart_set_var(tw_restart restart, const char* var, const char* settings);

/** Sets an attribute of all files written from now on: of a registered variable, or with var NULL
 *  or "" a global one, such as the model's time. A later call replaces it. Errors as of tw_put_att.
 *  Local. */
tw_status tw_restart_put_att(tw_restart restart, const char* var, const char* name, tw_type type,
                             int64_t n, const void* values);

/** As tw_restart_put_att, of type TW_CHAR. @param text  ends with a zero byte, not written */
tw_status tw_restart_put_att_text(tw_restart restart, const char* var, const char* name,
                                  const char* text);

/**
 * Writes the current values of all registered arrays to a netCDF file. An existing file of that
 * name is replaced only when the new one is complete and, unless durable=no, synced to the device:
 * whenever the run is killed, the file of that name is complete. After an error the old file is
 * unchanged.
 * @return TW_OK, TW_EARG, TW_EINUSE (the file is open in this session, or being written by another
 *         session or run), TW_EMISMATCH (registered variables or paths differ between ranks),
 *         TW_EMISSING (the copy of a variable registered with TW_COPIED has already been written),
 *         TW_ESTATE (between tw_restart_open and tw_restart_close), TW_EFORMAT, TW_EIO, TW_ENOMEM
 * @note Collective
 */
tw_status tw_restart_write(tw_restart restart, const char* path);

/**
 * Reads all registered arrays, whatever the number of ranks and the decompositions that wrote them,
 * and verifies the checksums in the file. If the types are the same, the values are bit for bit
 * those that were written; otherwise they are converted, if the array's type can represent every
 * value of the file's type. Halos are read as set with tw_fill_halo. The file may come from another
 * program; a variable with one record is read like one without a record dimension.
 * @return TW_OK; TW_EARG, TW_EIO, TW_EFORMAT, TW_EUNSUPPORTED as of tw_open; TW_ENOTFOUND (a
 *         required variable is missing), TW_ESHAPE (dimensions or lengths differ, or there is more
 *         than one record), TW_ETYPE, TW_ECHECKSUM, all of which name the variable; TW_EMISMATCH;
 *         TW_ESTATE (between tw_restart_open and tw_restart_close). After an error the contents of
 *         the arrays are undefined.
 * @note Collective
 */
tw_status tw_restart_read(tw_restart restart, const char* path);

/* One variable at a time, for a model with one work array for many variables: tw_restart_open, then
 * tw_restart_get for each variable, then tw_restart_close. (For writing, see TW_COPIED.) */

/**
 * Opens a file for tw_restart_get.
 * @return TW_OK, TW_ESTATE (a file is already open), TW_EARG, TW_EIO, TW_EFORMAT, TW_EUNSUPPORTED
 *         as of tw_open, TW_EMISMATCH
 * @note Collective
 */
tw_status tw_restart_open(tw_restart restart, const char* path);

/**
 * Reads one variable of the open file into an array and verifies its checksum; types, dimensions
 * and halos as for tw_restart_read. The array is not registered, and not used after the call.
 * @param name, type, dims, decomposition, data, n  as for tw_restart_add
 * @param flags  0, or a sum of TW_OPTIONAL (see tw_restart_found) and TW_BY_POSITION
 * @return TW_OK, TW_ESTATE (no file is open); the errors of tw_restart_add and tw_restart_read. The
 *         file stays open after an error.
 * @note Collective
 */
tw_status tw_restart_get(tw_restart restart, const char* name, tw_type type, const char* dims,
                         tw_decomposition decomposition, void* data, int64_t n, int flags);

/** As tw_restart_get, for an array of any strides; see tw_array. @note Collective */
tw_status tw_restart_get_strided(tw_restart restart, const char* name, tw_type type,
                                 const char* dims, tw_decomposition decomposition, void* data,
                                 int rank, const int64_t* extent, const int64_t* byte_stride,
                                 int flags);

/** Closes the file opened with tw_restart_open; its attributes remain available.
 *  @return TW_OK, TW_ESTATE (no file is open), TW_EIO
 *  @note Collective */
tw_status tw_restart_close(tw_restart restart);

/* The following functions refer to the open file or, if none is open, to the one read last;
 * TW_ESTATE if there is neither, or if the last read failed. Local. */

/** Whether the file has a variable: found becomes 1 or 0. If no file is open, the variable must be
 *  a registered one.
 *  @return TW_OK, TW_ENOTFOUND (not registered), TW_ESTATE */
tw_status tw_restart_found(tw_restart restart, const char* name, int* found);

/** Attributes of the file: as tw_inq_att, tw_get_att and tw_get_att_text. */
tw_status tw_restart_inq_att(tw_restart restart, const char* var, const char* name, tw_type* type,
                             int64_t* n);
tw_status tw_restart_get_att(tw_restart restart, const char* var, const char* name, tw_type type,
                             int64_t n, void* values);
tw_status tw_restart_get_att_text(tw_restart restart, const char* var, const char* name,
                                  int64_t size, char* text);

#ifdef __cplusplus
}
#endif

#endif
