/* Thalweg: putting data into a file, steps, and closing it.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A part of thalweg.h, which states the conventions.
 */
#ifndef THALWEG_WRITING_H
#define THALWEG_WRITING_H

#include "thalweg/array.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Puts this rank's part of a variable; for a record variable, of the current record, once in each
 * step. A second put of a fixed-size variable replaces the first.
 * @param type  type of the values in memory; numbers are converted, and those that do not fit the
 *              variable's type become the fill value (tw_end_step then returns TW_ERANGE)
 * @param data  the boxes of the decomposition, with their halos, one after another (a replicated
 *              variable: all of it). The array can be reused when the call returns.
 * @param n     number of elements at data, halos (and padding, see tw_pad) included; checked
 * @return TW_OK, TW_ENOTFOUND, TW_ETYPE, TW_EARG (no array), TW_ESHAPE, TW_ESTATE (a file open for
 *         reading; this record was already put in this step), TW_ECLOSED, TW_ENOMEM, or the error
 *         of an earlier failed write of this file
 * @note Local, with two exceptions: the first call in define mode (see tw_enddef); and files with
 *       service inline whose step does not fit into the setting "staging": then every tw_put is
 *       collective, with puts in the same order on all ranks (the log reports it).
 */
tw_status tw_put(tw_file file, const char* var, tw_type type, const void* data, int64_t n);

/**
 * Puts as tw_put does, for an array of any strides, or without a copy.
 * @param flags  0, or TW_DEFERRED: the library makes no copy, which is the fastest way to write.
 *               The array must stay valid and unchanged until the tw_end_step (or tw_close) that
 *               writes it has succeeded; for a fixed-size variable, until the next tw_end_step,
 *               tw_sync or tw_close. That call returns TW_EARG if it detects that data have changed
 *               or are gone (not every case is detected), or that two variables share an array.
 * @return as tw_put; TW_EARG (unknown flags)
 * @note Local, with the exceptions of tw_put; of these, only the first if the put is deferred
 */
tw_status tw_put_array(tw_file file, const char* var, tw_array array, int flags);

/**
 * Puts this rank's part of any record of a variable, by any decomposition: the counterpart of
 * tw_get. The variable may have been defined without a decomposition or with another one. Records
 * may be put in any order, several in one step, and repeatedly. The data become part of the file at
 * the next tw_end_step, tw_sync or tw_close:
 *   - In an existing record, elements that no rank puts keep their values. An existing record is
 *     overwritten in place: if the job is killed meanwhile, it may hold parts of the old and the
 *     new values.
 *   - A new record gets the fill value where nothing was put, and so do missing records before it.
 *     New records are counted in the header when all of them are complete.
 *   - If a rank puts an element twice, the later value wins; if two ranks put it in one step, one
 *     of the two values.
 * tw_put and tw_end_step work as usual: step n is record n. In a file with tw_put_record or
 * tw_put_box, a step in which no rank calls tw_put adds no record, but counts as one: the next
 * tw_put writes the record after it. In one step, a rank must put a record of a variable either
 * with tw_put or with tw_put_record and tw_put_box, not with both.
 * @param decomposition  the ranks' parts: its dimensions are those of the variable without the
 *                       record dimension, by name, in any order, or by position (see tw_decompose);
 *                       NULL: every rank holds all of it, and rank 0's values are written
 * @param record         record number, from 0; ignored for a variable without record dimension
 * @param data           as for tw_put; can be reused when the call returns
 * @param n              number of elements at data, halos (and padding, see tw_pad) included;
 *                       checked
 * @return TW_OK, TW_ENOTFOUND, TW_ETYPE, TW_EARG, TW_ESHAPE, TW_EBOUNDS (record < 0), TW_EOVERLAP
 *         (TW_LIST_SHARED), TW_ERANGE (some values did not fit the variable's type), TW_EFORMAT
 *         (more records than the format can count), TW_ESTATE (tw_put was used for this record of
 *         the variable in this step; storage pnetcdf), TW_ENOMEM (what a rank puts in a step is
 *         kept until the step ends: with service inline at most "staging" bytes, with background on
 *         several nodes at most "queue"), TW_EHANDLE (the decomposition belongs to another session,
 *         or was freed), TW_ECLOSED, or an earlier error of the file
 * @note Local, except the first call in define mode (see tw_enddef)
 */
tw_status tw_put_record(tw_file file, const char* var, tw_decomposition decomposition,
                        int64_t record, tw_type type, const void* data, int64_t n);

/**
 * Puts as tw_put_record does, for an array of any strides, or without a copy.
 * @param flags  0, or TW_DEFERRED: the array may be read until the next tw_end_step, tw_sync or
 *               tw_close of the file returns: with service inline it is packed straight into the
 *               writers' buffers where all ranks put the record by the same decomposition. It must
 *               stay unchanged, and at its address, until then. If the library detects that it did
 *               not (docs/arrays.md), that call returns TW_EARG.
 * @return as tw_put_record; TW_EARG (unknown flags)
 * @note Local, except the first call in define mode (see tw_enddef)
 */
tw_status tw_put_record_array(tw_file file, const char* var, tw_decomposition decomposition,
                              int64_t record, tw_array array, int flags);

/**
 * Puts any section of a variable, independent of its decomposition: for programs that do not know
 * beforehand what a rank will write. The counterpart of tw_get_box. Records and steps as for
 * tw_put_record. After an error except TW_ERANGE nothing of the section has been put, with one
 * exception: TW_ENOMEM for a section that does not fit into memory with the rest of the step. With
 * service servers, or background on one node, writers take sections before the step ends, so that
 * it may have any number of them.
 * @param start, count, stride  [dimensions of the variable] in elements, the record dimension
 *                      included, slowest first: count elements from start on, stride apart. stride
 *                      NULL: 1 along all dimensions. A count of 0 puts nothing, and start may then
 *                      equal the dimension's length. For a scalar all three may be NULL.
 * @param data          the section, dense, in the order of the variable's dimensions; its number of
 *                      elements is the product of count; can be reused when the call returns
 * @return as tw_put_record; TW_EARG (a stride below 1; the data are missing); TW_ESHAPE (start or
 *         count is missing); TW_EBOUNDS (the section is not within the variable: the text names the
 *         dimension and the values)
 * @note Local, except the first call in define mode (see tw_enddef)
 */
tw_status tw_put_box(tw_file file, const char* var, tw_type type, const int64_t* start,
                     const int64_t* count, const int64_t* stride, const void* data);

/**
 * Writes what was put and ends the current record; the next put belongs to the next record. Record
 * variables that no rank has put get their fill value. With service inline the record is in the
 * file when the call returns. With background or servers it hands over the step and returns; errors
 * of the write are returned by later calls on the file; tw_sync, tw_close and tw_finalize return
 * them on all ranks alike. With auto, the default, a file may change from inline to background: set
 * service=inline if the program needs the record to be in the file after each step.
 * @return TW_OK; TW_EMISSING if a variable was put on some ranks only; TW_EMISMATCH if it was put
 *         with its halo on some ranks and without it on others; TW_EARG if an array put with
 *         TW_DEFERRED has changed (with these three the step stays open; with a service they are
 *         errors of the file); TW_ERANGE if values did not fit the variable's type (they become the
 *         fill value; with netCDF-C they are undefined); TW_EIO; with a service also the error of
 *         an earlier step, on the ranks that know of it: see docs/services.md
 * @note Collective
 */
tw_status tw_end_step(tw_file file);

/**
 * Makes all records ended so far visible to other programs. From then on the inquiry and reading
 * functions also work on this handle. For a file open for reading: looks for new records.
 * @param durable  1 to sync the records to the device as well (fsync), else 0
 * @return as tw_end_step; for a file open for reading TW_OK, TW_EIO, TW_EFORMAT
 * @note Collective
 */
tw_status tw_sync(tw_file file, int durable);

/**
 * Writes what is left, completes the file and gives it its final name. The handle is set to NULL;
 * calls with a copy of it return TW_ECLOSED until tw_finalize.
 *
 * With close=later, and service background or servers, the call hands over the file and returns.
 * The file gets its final name at the first tw_create, tw_open, tw_close or tw_wait of the session
 * that finds it written. tw_create, tw_open and the restart functions, if called with the same
 * path, wait for it first, and so does tw_finalize. If the file fails after tw_close, the first of
 * these calls (or of tw_wait) returns the error, on all ranks and only once; that call then does
 * nothing else, unless it is tw_finalize. TW_ERANGE (values that do not fit) comes from tw_close
 * itself.
 * @return TW_OK, TW_ERANGE, TW_EIO, TW_EMISMATCH, TW_EMISSING, TW_ENOMEM, TW_ECLOSED, or an earlier
 *         error of the file
 * @note Collective
 */
tw_status tw_close(tw_file* file);

/** Ways in which tw_recover treats a file of the final name that has more records than the
 * temporary one.
 */
enum tw_recovery TW_ENUM {
    TW_KEEP_LONGER = 0,   /**< change neither file and return TW_EEXISTS */
    TW_REPLACE_LONGER = 1 /**< replace the longer file */
};
typedef enum tw_recovery tw_recovery;

/**
 * Waits for files that were closed with close=later, the oldest first.
 * @param most  number of files that may remain incomplete: 0 waits for all; with a large number it
 *              does not wait, and only gives the files that are written their final names
 * @return TW_OK; the error of a file that failed after tw_close, if no call has returned it yet;
 *         TW_EARG (most < 0); TW_EMISMATCH (most differs between ranks)
 * @note Collective
 */
tw_status tw_wait(tw_session session, int64_t most);

/**
 * Completes the file that a killed run left under its temporary name: keeps the records counted in
 * its header, cuts off everything after them, and gives the file its final name. An existing file
 * of that name is replaced, unless it has more records. If the file has checksums, it keeps the
 * records before the first that is not whole. See docs/recovery.md. Local: one process calls it,
 * without a session and without MPI.
 * @param path    the final name or the temporary one, PATH.part or PATH.part.N; a file that exists
 *                only under its final name (publish=live) is completed in place if necessary
 * @param longer  what to do if the file with the final name has more records
 * @param text    NULL, or receives a description of what was done, or of the error
 * @param length  size of text in bytes, with the terminating zero
 * @return TW_OK; TW_ENOTFOUND if there is no such file; TW_EFORMAT if it cannot be read (the run
 *         was killed before the definitions were written, or the file is damaged); TW_EEXISTS if
 *         the file of the final name has more records; TW_EINUSE if a run is still writing it;
 *         TW_EIO; TW_EARG; TW_ENOMEM. After these errors nothing has been changed. TW_ECHECKSUM:
 *         the file was completed, but has damaged data that were not cut off; the text names them
 */
tw_status tw_recover(const char* path, tw_recovery longer, char* text, int64_t length);

#ifdef __cplusplus
}
#endif

#endif
