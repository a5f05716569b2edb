/* Thalweg: creating a file, and defining its dimensions, variables and attributes.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A part of thalweg.h, which states the conventions.
 */
#ifndef THALWEG_DEFINITIONS_H
#define THALWEG_DEFINITIONS_H

#include "thalweg/base.h"

/** Length of the record dimension in tw_def_dim. */
#define TW_UNLIMITED ((int64_t)0)

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Creates a netCDF file. It is called PATH.part until it is closed (see the setting "publish").
 * docs/files.md says what happens to an existing file of that name, and how concurrent writers are
 * kept out.
 * @param path      the same text on all ranks; a relative path is relative to the working directory
 *                  that rank 0 has during this call
 * @param settings  NULL or "name=value; ..." for this file only: method, storage, format, ...
 * @param file      receives the handle; end it with tw_close
 * @return TW_OK, TW_EARG, TW_ESETTING, TW_EMISMATCH (paths differ), TW_EINUSE (open in this
 *         session, or being written by another session or run, whose host and process the text
 *         names), TW_EIO (with the system's error text: missing directory, path is a directory, no
 *         permission; also if the path is not a regular file, or is one that this user could not
 *         replace at tw_close)
 * @note Collective
 */
tw_status tw_create(tw_session session, const char* path, const char* settings, tw_file* file);

/**
 * Defines a dimension. Needed only for dimensions that no decomposition names. Every rank must call
 * it with the same arguments. Local; tw_enddef reports differences.
 * @param length  in elements; TW_UNLIMITED makes it the record dimension
 * @return TW_OK, TW_EARG (a name that netCDF does not allow), TW_EEXISTS, TW_ESHAPE (a negative
 *         length), TW_EFORMAT (a second record dimension), TW_ESTATE (the definitions have ended),
 *         TW_ECLOSED
 */
tw_status tw_def_dim(tw_file file, const char* name, int64_t length);

/**
 * Defines a variable.
 * Every rank must call it with the same arguments. Local; tw_enddef reports differences.
 * @param dims           names in file order, slowest first ("time lev lat lon"); "" for a scalar.
 *                       Names not yet defined that the decomposition has are defined with its
 *                       lengths. If the first name of a variable with a decomposition is neither
 *                       defined nor in the decomposition, it becomes the record (unlimited)
 *                       dimension, unless the file already has one. Without a decomposition, names
 *                       not yet defined get their lengths from the session's decompositions.
 * @param decomposition  the ranks' parts; its dimensions must be those of the variable without
 *                       the record dimension: by name, in any order, or by position (see
 *                       tw_decompose). NULL: the variable is replicated: every rank holds all of
 *                       it, and rank 0's values are written.
 * @return TW_OK, TW_EARG, TW_EEXISTS, TW_ENOTFOUND (a dimension that is not defined), TW_ESHAPE
 *         (its dimensions are not the decomposition's; two decompositions of the session have
 *         different lengths of a dimension that is not defined), TW_ETYPE, TW_EFORMAT (a second
 *         record dimension, or one that is not the slowest), TW_EOVERLAP (TW_LIST_SHARED),
 *         TW_EHANDLE, TW_ESTATE (the definitions have ended), TW_ECLOSED
 */
tw_status tw_def_var(tw_file file, const char* name, tw_type type, const char* dims,
                     tw_decomposition decomposition);

/**
 * Sets an attribute. Allowed until tw_close; it must be the same on every rank. Local; tw_enddef or
 * tw_close reports differences. With the setting attributes=first, rank 0's attributes are written,
 * and other ranks need not set any.
 * @param var     a variable; NULL or "" for a global attribute
 * @param type    type of the values, and of the attribute in the file
 * @param n       number of values
 * @param values  [n]; can be reused when the call returns
 * @return TW_OK, TW_EARG, TW_ENOTFOUND (no such variable), TW_ETYPE, TW_EFORMAT (a type that the
 *         format does not have), TW_ESETTING (a fill value that differs from tw_set_var's),
 *         TW_ESTATE, TW_ECLOSED, TW_ENOMEM
 */
tw_status tw_put_att(tw_file file, const char* var, const char* name, tw_type type, int64_t n,
                     const void* values);

/** Sets an attribute of type TW_CHAR, as tw_put_att does.
 *  @param text  ends with a zero byte, which is not written */
tw_status tw_put_att_text(tw_file file, const char* var, const char* name, const char* text);

/**
 * Changes settings of one variable: "name=value; name=value"; or, with an empty `var`, free space
 * and alignment in a new classic file, in bytes: header_pad and var_pad are left free after the
 * header and after the fixed-size variables; the fixed-size variables begin at a multiple of
 * var_align, and the records at a multiple of record_align (each at least 4).
 * - fill: the fill value, without the attribute _FillValue: "fill=0", "fill=1e30", "fill=nan"; for
 *   a text variable, one character. It is written wherever nothing was put: elements that no rank
 *   holds, records and variables never put, values that do not fit the type. A netCDF-4 file
 *   records it, as HDF5's fill value; a classic one does not, so set it again with mode=append.
 *   If the variable has the attribute _FillValue as well, the two must be equal. With fill=none, a
 *   fixed-size variable of a classic file that is never put stays a hole, which reads as zeros.
 * - deflate, shuffle, zstd, quantize, chunks: how the variable is stored in a netCDF-4 file. They
 *   override those of the file, and are ignored in classic formats (logged at level info).
 * Only before the definitions end, with the same arguments on every rank. Local; tw_enddef reports
 * differences.
 * @return TW_OK, TW_ESETTING (also: a fill value that the type cannot represent, or that differs
 *         from the attribute's), TW_ENOTFOUND, TW_ESTATE, TW_ECLOSED
 */
tw_status tw_set_var(tw_file file, const char* var, const char* settings);

/** Ways to treat the file's records from the one given to tw_set_record on. */
enum tw_later TW_ENUM {
    TW_KEEP_LATER = 0, /**< the later records stay until they are overwritten */
    TW_DROP_LATER = 1  /**< the later records are removed when the definitions end */
};
typedef enum tw_later tw_later;

/**
 * Sets the record that the first step writes to a file opened with mode=append; without this call
 * it is the one after the last record. Every later step writes the next record. A step writes all
 * of its record: variables that are not put get the fill value. Only before the definitions end,
 * with the same arguments on every rank. Local; tw_enddef reports differences.
 * @param record  from 0 to the number of records that tw_inq returns
 * @param later   whether the records from that one on are kept or removed
 * @return TW_OK, TW_EBOUNDS, TW_EARG, TW_ESTATE (a new file, or the definitions have ended),
 *         TW_ECLOSED
 */
tw_status tw_set_record(tw_file file, int64_t record, tw_later later);

/**
 * Ends the definitions: checks that they are the same on all ranks, lays out the file and writes
 * its header; with mode=append, compares them with the file's. Optional: the first tw_put,
 * tw_end_step, tw_sync or tw_close does it.
 * @return TW_OK, TW_EMISMATCH (the definitions differ between ranks), TW_EDIFFERENT (mode=append:
 *         they differ from the file's, which is not changed), TW_EFORMAT (the format cannot hold
 *         them), TW_ESETTING, TW_EIO, TW_ENOMEM, TW_ESTATE (they have ended already), TW_ECLOSED
 * @note Collective
 */
tw_status tw_enddef(tw_file file);

#ifdef __cplusplus
}
#endif

#endif
