/* Thalweg: restarts, arrays that a model registers once, to be written and read all together.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A part of thalweg.h, which includes it; the conventions are told there.
 */
#ifndef THALWEG_RESTART_H
#define THALWEG_RESTART_H

#include "thalweg/thalweg.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tw_restart_impl* tw_restart;

/**
 * Begins a restart: arrays that the model registers once, to be written to one file, and read from
 * it, in one call each, on any number of ranks. See docs/restarts.md.
 * @param settings  NULL or "name=value; ..." as for tw_create. The files are durable unless it says
 *                  durable=no; checksum=no leaves out the checksums; publish, tile_files and
 *                  quantize have no meaning for a restart.
 * @param restart   receives the handle; it belongs to the session, and tw_finalize frees it
 * @return TW_OK, TW_EARG, TW_ESETTING, TW_EMISMATCH
 * @note Collective
 */
int tw_restart_new(tw_session session, const char* settings, tw_restart* restart);

/** Frees it and sets the handle to NULL. The arrays are the model's.
 *  @return TW_OK, TW_EHANDLE, TW_ESTATE (tw_restart_close first). Local. */
int tw_restart_free(tw_restart* restart);

/** Defines a dimension that no decomposition names, for replicated arrays. Local; every rank has to
 *  call it alike, as all that follows up to tw_restart_put_att_text; tw_restart_write finds
 *  disagreement.
 *  @return TW_OK, TW_EARG, TW_EEXISTS, TW_ESHAPE (a length that is not positive) */
int tw_restart_def_dim(tw_restart restart, const char* name, int64_t length);

/** Flags of tw_restart_add. */
enum tw_restart_flags {
    TW_REQUIRED = 0,
    TW_OPTIONAL = 1,   /**< a file may lack the variable; then a read leaves the array as it is */
    TW_COPIED = 2,     /**< the values are copied now, for the next tw_restart_write; the array is
                            free for other values when the call returns */
    TW_BY_POSITION = 4 /**< in a file that is read, the dimensions may have other names: the first
                            is the first, whatever it is called. Their lengths must be the same */
};

/**
 * Registers an array. A name that is registered already gets the new array; its type and dimensions
 * in the file stay.
 * @param type           of the array, and in the file
 * @param dims           names in file order, slowest first; "" for a scalar
 * @param decomposition  who holds what; its dimensions are those of the variable, in any order.
 *                       NULL: replicated: every rank holds the whole, and rank 0's values are
 *                       written; its dimensions are known from other decompositions or
 *                       tw_restart_def_dim
 * @param data           as for tw_put; used by every tw_restart_write and tw_restart_read until the
 *                       restart is freed or the name registered anew; not that of another name
 * @param n              number of elements at data, halos included; checked
 * @param flags          enum tw_restart_flags, added up. With TW_COPIED the array is no longer used
 *                       when the call returns: many fields can pass through one work array. The
 *                       library keeps a copy of this rank's part until it is written once: to
 *                       write again, register anew. tw_restart_read passes over such a variable;
 *                       tw_restart_get reads it
 * @return TW_OK, TW_EARG, TW_EEXISTS (registered with another type or other dimensions),
 *         TW_ENOTFOUND (an unknown dimension), TW_ESHAPE, TW_ETYPE, TW_EHANDLE, TW_EOVERLAP
 *         (a decomposition that is TW_LIST_SHARED), TW_ENOMEM
 * Local.
 */
int tw_restart_add(tw_restart restart, const char* name, tw_type type, const char* dims,
                   tw_decomposition decomposition, void* data, int64_t n, int flags);

/** As tw_restart_add, for an array of any strides; see tw_put_strided. */
int tw_restart_add_strided(tw_restart restart, const char* name, tw_type type, const char* dims,
                           tw_decomposition decomposition, void* data, int rank,
                           const int64_t* extent, const int64_t* byte_stride, int flags);

/** Settings of one registered variable in all files written from now on, as of tw_set_var:
 *  "fill=0; deflate=1". Whatever no rank holds becomes the fill value. Local; alike on every rank.
 *  @return TW_OK, TW_ESETTING (also: quantize, which would cost bits), TW_ENOTFOUND */
int tw_restart_set_var(tw_restart restart, const char* var, const char* settings);

/** Sets an attribute of all files written from now on: of a registered variable, or with var NULL
 *  or "" a global one, such as the model's time. A later call replaces it. Errors as of tw_put_att.
 *  Local. */
int tw_restart_put_att(tw_restart restart, const char* var, const char* name, tw_type type,
                       int64_t n, const void* values);

/** Sets a text attribute. */
int tw_restart_put_att_text(tw_restart restart, const char* var, const char* name,
                            const char* text);

/**
 * Writes all registered arrays, as they are now, to a netCDF file. A file of that name is replaced
 * when the new one is complete and, unless durable=no, on the device: whenever the run is killed, a
 * whole file has the name. After a failure the old file is still there.
 * @return TW_OK, TW_EARG, TW_EINUSE (the file is open in this session, or another session or run is
 *         writing it), TW_EMISMATCH (the ranks have registered different variables, or give
 *         different paths), TW_EMISSING (a variable was registered with TW_COPIED, and its copy has
 *         been written already), TW_ESTATE (between tw_restart_open and tw_restart_close),
 *         TW_EFORMAT, TW_EIO, TW_ENOMEM
 * @note Collective
 */
int tw_restart_write(tw_restart restart, const char* path);

/**
 * Reads all registered arrays, whatever the number of ranks and the decompositions that wrote them,
 * and compares the checksums that the file has. Bit for bit what was written, where the types are
 * the same; values of a type whose every value the array's type holds are converted. Halos are
 * filled as tw_fill_halo says. The file may be another program's; a variable with one record is
 * read like one without.
 * @return TW_OK, TW_EARG, TW_EIO, TW_EFORMAT, TW_EUNSUPPORTED as of tw_open; TW_ENOTFOUND (a
 *         required variable), TW_ESHAPE (other dimensions or lengths, more than one record),
 *         TW_ETYPE, TW_ECHECKSUM, each naming the variable; TW_EMISMATCH; TW_ESTATE (between
 *         tw_restart_open and tw_restart_close). After a failure the arrays may hold anything.
 * @note Collective
 */
int tw_restart_read(tw_restart restart, const char* path);

/* One variable at a time, for a model that has one work array for many: tw_restart_open, then
 * tw_restart_get for each variable, then tw_restart_close. (For writing, see TW_COPIED.) */

/**
 * Opens a file to be read by tw_restart_get.
 * @return TW_OK, TW_ESTATE (one is open), TW_EARG, TW_EIO, TW_EFORMAT, TW_EUNSUPPORTED as of
 *         tw_open, TW_EMISMATCH
 * @note Collective
 */
int tw_restart_open(tw_restart restart, const char* path);

/**
 * Reads one variable of the open file into an array, and compares its checksum. What the file and
 * the array have to have in common is told at tw_restart_read. Nothing is registered, and the array
 * is no longer used when the call returns.
 * @param name, type, dims, decomposition, data, n  as of tw_restart_add
 * @param flags  TW_OPTIONAL (see tw_restart_found) and TW_BY_POSITION
 * @return TW_OK, TW_ESTATE (no file is open); the errors of tw_restart_add and tw_restart_read. The
 *         file stays open.
 * @note Collective
 */
int tw_restart_get(tw_restart restart, const char* name, tw_type type, const char* dims,
                   tw_decomposition decomposition, void* data, int64_t n, int flags);

/** As tw_restart_get, for an array of any strides; see tw_put_strided. @note Collective */
int tw_restart_get_strided(tw_restart restart, const char* name, tw_type type, const char* dims,
                           tw_decomposition decomposition, void* data, int rank,
                           const int64_t* extent, const int64_t* byte_stride, int flags);

/** Closes the file that tw_restart_open has opened; its attributes can still be asked for.
 *  @return TW_OK, TW_ESTATE (none is open), TW_EIO @note Collective */
int tw_restart_close(tw_restart restart);

/* Of the file that is open, or that tw_restart_read has read last; TW_ESTATE before, and after a
 * read that failed. Local. */

/** Whether it has a variable: 1 or 0; while none is open, of the registered ones. @return TW_OK,
 *  TW_ENOTFOUND (not registered), TW_ESTATE */
int tw_restart_found(tw_restart restart, const char* name, int* found);

/** Its attributes: as tw_inq_att, tw_get_att and tw_get_att_text. */
int tw_restart_inq_att(tw_restart restart, const char* var, const char* name, tw_type* type,
                       int64_t* n);
int tw_restart_get_att(tw_restart restart, const char* var, const char* name, tw_type type,
                       int64_t n, void* values);
int tw_restart_get_att_text(tw_restart restart, const char* var, const char* name, int64_t size,
                            char* text);

#ifdef __cplusplus
}
#endif

#endif
