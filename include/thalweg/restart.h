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
 * @param settings  NULL or "name=value; ..." as for tw_create. Here durable=yes and
 *                  checksums=yes are the defaults; publish, files and quantize have no effect
 * @param restart   receives the handle, which belongs to the session; tw_finalize frees it
 * @return TW_OK, TW_EARG, TW_ESETTING, TW_EMISMATCH
 * @note Collective
 */
tw_status tw_restart_new(tw_session session, const char* settings, tw_restart* restart);

/** Frees the restart, not the arrays, and sets the handle to NULL. Files that tw_restart_read has
 *  opened stay open. Local.
 *  @return TW_OK, TW_EHANDLE */
tw_status tw_restart_free(tw_restart* restart);

/**
 * Returns the definitions of the files that the restart will write, as a file for these functions:
 * tw_def_dim defines a dimension that no decomposition names, for replicated arrays (its length
 * must be positive); tw_put_att and tw_put_att_text set an attribute, such as the model's time;
 * tw_set_var sets fill and other settings for a variable that has been registered (quantize, which
 * would lose bits, is an error). They can be called at any time, with the same arguments on every
 * rank, and apply to all files written from then on; tw_restart_write reports differences. All
 * other functions, including tw_close, return TW_ESTATE for this file. Local.
 * @param file  receives the handle, which belongs to the restart and is valid until tw_restart_free
 * @return TW_OK, TW_EARG, TW_EHANDLE
 */
tw_status tw_restart_file(tw_restart restart, tw_file* file);

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
 * @param type           type of the array, and in the file
 * @param dims           names in file order, slowest first; "" for a scalar
 * @param decomposition  the ranks' parts; its dimensions are those of the variable, by name,
 *                       in any order, or by position (see tw_decompose). NULL: the variable is
 * replicated: every rank holds all of it, and rank 0's values are written; its dimensions must come
 * from other decompositions or from tw_restart_file
 * @param data           as for tw_put; every tw_restart_write and tw_restart_read uses it until the
 *                       restart is freed or the name is registered again; no two names may share
 *                       an array
 * @param n              number of elements at data, halos included; checked
 * @param flags          sum of enum tw_restart_flags. With TW_COPIED the library copies this rank's
 *                       part and does not use the array after the call, so one work array can serve
 *                       many variables. The copy is written once: register the variable again
 *                       before the next tw_restart_write. tw_restart_read skips such variables;
 *                       read them from the file that it opens
 * @return TW_OK, TW_EARG, TW_EEXISTS (registered with another type or other dimensions),
 *         TW_ENOTFOUND (an unknown dimension), TW_ESHAPE, TW_ETYPE, TW_EHANDLE, TW_EOVERLAP
 *         (a decomposition made with TW_LIST_SHARED), TW_ENOMEM
 */
tw_status tw_restart_add(tw_restart restart, const char* name, tw_type type, const char* dims,
                         tw_decomposition decomposition, void* data, int64_t n, int flags);

/** Registers an array of any strides, as tw_restart_add does. Local. */
tw_status tw_restart_add_array(tw_restart restart, const char* name, const char* dims,
                               tw_decomposition decomposition, tw_array array, int flags);

/**
 * Writes the current values of all registered arrays to a netCDF file. An existing file of that
 * name is replaced only when the new one is complete and, unless durable=no, synced to the device:
 * whenever the run is killed, the file of that name is complete. After an error the old file is
 * unchanged.
 * @return TW_OK, TW_EARG, TW_EINUSE (the file is open in this session, or being written by another
 *         session or run), TW_EMISMATCH (registered variables or paths differ between ranks),
 *         TW_EMISSING (the copy of a variable registered with TW_COPIED has already been written),
 *         TW_EFORMAT, TW_EIO, TW_ENOMEM
 * @note Collective
 */
tw_status tw_restart_write(tw_restart restart, const char* path);

/**
 * Reads all registered arrays, whatever the number of ranks and the decompositions that wrote them,
 * and verifies the checksums in the file. If the types are the same, the values are bit for bit
 * those that were written; otherwise they are converted, if the array's type can represent every
 * value of the file's type. Halos are read as set with tw_fill_halo. The file may come from another
 * program; a variable with one record is read like one without a record dimension.
 * @param file  NULL, or receives the open file (NULL after an error), for inquiry, attributes, and
 *              variables that are not registered, such as those of a model with one work array for
 *              many variables (see TW_COPIED). tw_get and tw_get_array verify the checksum of each
 *              variable that they read at once, and return TW_ETYPE for a type that cannot
 * represent every value. Close it with tw_close.
 * @return TW_OK; TW_EARG, TW_EIO, TW_EFORMAT, TW_EUNSUPPORTED as for tw_open; TW_ENOTFOUND (a
 *         required variable is missing), TW_ESHAPE (dimensions or lengths differ, or there is more
 *         than one record), TW_ETYPE, TW_ECHECKSUM, all of which name the variable; TW_EMISMATCH
 *         (also: file is NULL on some ranks only). After an error the contents of the arrays are
 *         undefined.
 * @note Collective
 */
tw_status tw_restart_read(tw_restart restart, const char* path, tw_file* file);

#ifdef __cplusplus
}
#endif

#endif
