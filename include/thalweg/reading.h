/* Thalweg: opening and reading files.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A part of thalweg.h, which states the conventions.
 */
#ifndef THALWEG_READING_H
#define THALWEG_READING_H

#include "thalweg/array.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A file that is being written can be read through its own handle, by all functions below except
 * tw_open and tw_prefetch. These functions show what the last tw_sync made readable: the records
 * that had ended, and what had been put of the fixed-size variables, with fill values elsewhere.
 * Later data are not seen before the next tw_sync, except elements that are written again. They
 * return TW_ESTATE before the first tw_sync, and, for a netCDF-4 file with service background or
 * servers, if something was put since the last tw_sync. They return TW_EUNSUPPORTED for sets of
 * tiles (files=tiles) and for storage=memory. tw_get_array with TW_DEFERRED makes fewer checks
 * than for a file opened for reading; tw_read reports the other errors. See docs/reading.md. */

/**
 * Opens an existing netCDF file, written by any program, for reading or, with mode=append, for
 * adding and replacing records. It may have a classic format (CDF-1, CDF-2, CDF-5) or, for reading,
 * netCDF-4 (the root group). If there is no such file, but there is path.0000, the set of tiles
 * that begins with it is read as one file. Rank 0 reads and checks the header and sends it to the
 * other ranks.
 *
 * With mode=append, the model defines the file's variables as for tw_create, in any order. When the
 * definitions end, they are compared with the file's: if variables are missing on either side or
 * differ in type or dimensions, the call returns TW_EDIFFERENT, and the file is not changed. Steps
 * then add records or replace them (tw_set_record); data put for fixed-size variables replace those
 * in the file; and tw_close sets attributes that the file lacks or that have another value there.
 * The file is written in place, under its own name. See docs/appending.md.
 * @param settings  NULL or "name=value; ..." for this file only: mode; readers, straight, piece,
 *                  read_ahead, common_records, staging, bandwidth; with mode=append all those that
 *                  control how a file is written
 * @param file      receives the handle; end it with tw_close
 * @return TW_OK, TW_EARG, TW_ESETTING, TW_EIO (with the system's error text; also: a tile is
 *         missing), TW_EFORMAT (not a netCDF file, an inconsistent header, or tiles that do not
 *         belong together), TW_EMISMATCH (paths differ), TW_EINUSE (a netCDF-4 file that another
 *         program has locked for writing, or whose run was killed while it changed attributes).
 * With mode=append also TW_EUNSUPPORTED (a file that cannot be appended to: see docs/appending.md),
 *         TW_EINUSE (open in this session, or being written by another session or run), TW_EIO (not
 *         writable, or truncated), TW_ESETTING (another format, or files=tiles for a single file)
 * @note Collective
 */
tw_status tw_open(tw_session session, const char* path, const char* settings, tw_file* file);

/* Inquiry. Local, with the same results on every rank. Dimensions, variables and attributes are
 * numbered from 0 in the order of the file. Pointers for results may be NULL; names belong to
 * the file and are valid until tw_close. For a file that is being written, the results are its
 * definitions, with the attributes and records at the last tw_sync. With mode=append, before the
 * first tw_sync, they are those at the time when the file was opened. All inquiry functions can
 * return TW_OK, TW_EARG, TW_ESTATE (a new file, before the first tw_sync) and TW_ECLOSED; each
 * function names its other errors. */

/** Properties of a file, as tw_inq returns them. */
typedef struct tw_file_info {
    const char* format;    /**< "cdf1", "cdf2", "cdf5", "netcdf4", "netcdf4-classic" */
    const char* unlimited; /**< name of the record dimension, "" if there is none. If there are
                                several unlimited dimensions (netCDF-4), it is the first; the others
                                keep the length that they had when the file was opened */
    int ndims;             /**< number of dimensions */
    int nvars;             /**< number of variables */
    int natts;             /**< number of global attributes */
    int ngroups; /**< number of groups in the root group (netCDF-4) when the file was opened; their
                    contents cannot be read */
    int64_t records; /**< number of records */
} tw_file_info;

/** Describes the file. Local.
 * @return as all inquiry functions (see above) */
tw_status tw_inq(tw_file file, tw_file_info* info);

/** Returns the length of a dimension; for the record dimension, the number of records. Local.
 * @return also TW_ENOTFOUND */
tw_status tw_inq_dim(tw_file file, const char* name, int64_t* length);

/** Kinds of objects whose names tw_inq_name returns. */
enum tw_item TW_ENUM { TW_DIMENSION = 0, TW_VARIABLE = 1, TW_ATTRIBUTE = 2 };
typedef enum tw_item tw_item;

/** Returns the name of a dimension, a variable or an attribute by its number. Local.
 *  @param var  for an attribute: its variable; NULL or "" for a global attribute. Ignored otherwise
 *  @return also TW_ENOTFOUND (no such variable), TW_EBOUNDS (no such number)
 */
tw_status tw_inq_name(tw_file file, tw_item item, const char* var, int index, const char** name);

/** Returns the type, number of dimensions (with the record dimension) and number of attributes
 *  of a variable. The type is 0 for strings and user-defined types (netCDF-4), which cannot be
 *  read. Of a new file, works as soon as the variable is defined. Local.
 *  @return also TW_ENOTFOUND */
tw_status tw_inq_var(tw_file file, const char* var, tw_type* type, int* ndims, int* natts);

/** Returns the name and length of a variable's dimension: index 0 is the slowest. Local.
 * @return also TW_ENOTFOUND, TW_EBOUNDS (no such index) */
tw_status tw_inq_var_dim(tw_file file, const char* var, int index, const char** name,
                         int64_t* length);

/** Largest number of filters that a variable can have. */
#define TW_MAX_FILTERS 32

/**
 * Returns the storage of a variable: its chunks and filters. Works for files opened for reading,
 * and, after tw_sync, for netCDF-4 files that are being written. For a set of tiles, it describes
 * the first file. Local.
 * @param chunk     [dimensions of the variable] receives the lengths of its chunks, in elements,
 *                  slowest first; all 0 if it is not stored in chunks
 * @param nfilters  receives the number of filters
 * @param filter    [TW_MAX_FILTERS] receives their numbers in HDF5, in the order in which they were
 *                  applied: 1 deflate, 2 shuffle, 3 fletcher32, 4 szip, 32015 zstd
 * @param level     [TW_MAX_FILTERS] receives the levels of deflate and zstd; 0 for others
 * @return also TW_ENOTFOUND; TW_ESTATE also for a file that is being written, if it is not netCDF-4
 */
tw_status tw_inq_var_storage(tw_file file, const char* var, int64_t* chunk, int* nfilters,
                             int* filter, int* level);

/** Returns the type and number of values of an attribute; for text, the number of characters. A
 *  single string (netCDF-4) is text (TW_CHAR); for other strings and user-defined types the type
 *  is 0. Local.
 *  @return also TW_ENOTFOUND */
tw_status tw_inq_att(tw_file file, const char* var, const char* name, tw_type* type, int64_t* n);

/**
 * Reads the values of an attribute, converted to the given type by netCDF's rules. Local.
 * @param n  number of elements at `values`: the number that tw_inq_att returns
 * @return also TW_ENOTFOUND, TW_ETYPE (between text and numbers), TW_ESHAPE (wrong n), TW_ERANGE
 *         (some values do not fit the type; they become its fill value, and the others are valid),
 *         TW_EUNSUPPORTED (its type is 0)
 */
tw_status tw_get_att(tw_file file, const char* var, const char* name, tw_type type, int64_t n,
                     void* values);

/** Reads a text attribute, with a terminating zero byte: `size`, in bytes, must be at least one
 *  more than the length that tw_inq_att returns. Local. Returns also TW_ENOTFOUND, TW_ETYPE,
 *  TW_ESHAPE (size too small), TW_EUNSUPPORTED (its type is 0). */
tw_status tw_get_att_text(tw_file file, const char* var, const char* name, int64_t size,
                          char* text);

/**
 * Reads this rank's part of a variable, whatever the order of its dimensions in the file.
 * @param decomposition  the ranks' parts: its dimensions are those of the variable without the
 *                       record dimension, by name, in any order, or by position (see tw_decompose);
 *                       NULL: every rank reads all
 * @param record         record number, from 0; ignored for a variable without record dimension
 * @param type           type of the values in memory; numbers are converted by netCDF's rules
 * @param data           the boxes of the decomposition, with their halos, one after another;
 *                       halos are left unchanged unless tw_fill_halo was called
 * @param n              number of elements at data, halos (and padding, see tw_pad) included;
 *                       checked
 * @return TW_OK, TW_ENOTFOUND, TW_ETYPE, TW_ESHAPE, TW_EARG, TW_EBOUNDS (no such record),
 *         TW_ERANGE (some values do not fit the type; they become its fill value, and the others
 *         are valid), TW_EIO (also: the file is truncated), TW_EMISMATCH (variable or record
 *         differs between ranks), TW_EFORMAT (netCDF-4: damaged data), TW_EUNSUPPORTED (more than
 *         16 dimensions; netCDF-4: type 0, a variable in another group, a filter that is not
 *         available). After any error except TW_ERANGE the contents of the arrays are undefined.
 * @note Collective
 */
tw_status tw_get(tw_file file, const char* var, tw_decomposition decomposition, int64_t record,
                 tw_type type, void* data, int64_t n);

/**
 * Reads as tw_get does, for an array of any strides, or together with others.
 * @param array  if its extents do not include the halo, no halo is read
 * @param flags  0, or TW_DEFERRED: only requests what would be read, and is then local; the next
 *               tw_read reads it, with everything else requested. Do not use the array until then;
 *               each request needs an array of its own. Every rank must request the same variables,
 *               records and decompositions in the same order.
 * @return as tw_get (a request returns only errors that are known without the other ranks and the
 *         file); TW_EARG (unknown flags)
 * @note Collective, unless it is deferred
 */
tw_status tw_get_array(tw_file file, const char* var, tw_decomposition decomposition,
                       int64_t record, tw_array array, int flags);

/**
 * Reads any section of a variable, independent of its decomposition: for programs that do not know
 * beforehand what a rank will read. Every rank passes its own section; sections may overlap, be
 * identical, or belong to different records.
 * @param start, count, stride  [dimensions of the variable] in elements, the record dimension
 *                      included, slowest first: count elements from start on, stride apart. stride
 *                      NULL: 1 along all dimensions. A count of 0 reads nothing, and start may then
 *                      equal the dimension's length. For a scalar all three may be NULL.
 * @param type          type of the values in memory; numbers are converted by netCDF's rules
 * @param data          receives the section, dense, in the order of the variable's dimensions; its
 *                      number of elements is the product of count; may be NULL if that is 0
 * @return TW_OK, TW_ENOTFOUND, TW_ETYPE, TW_EARG (a stride below 1; the array is missing),
 *         TW_ESHAPE (start or count is missing), TW_EBOUNDS (the text names the dimension, the
 * values and the rank), TW_ERANGE (some values do not fit the type; they become its fill value, and
 * the others are valid), TW_EMISMATCH (the variable differs between ranks), TW_EIO, TW_EFORMAT,
 * TW_EUNSUPPORTED as for tw_get. After any error except TW_ERANGE the contents of the arrays are
 * undefined.
 * @note Collective
 */
tw_status tw_get_box(tw_file file, const char* var, tw_type type, const int64_t* start,
                     const int64_t* count, const int64_t* stride, void* data);

/** Reads everything requested with TW_DEFERRED, in one pass through the file: the fastest way to
 *  read many variables. Afterwards no request is left, even after an error. @return as tw_get
 *  @note Collective */
tw_status tw_read(tw_file file);

/** Starts reading in the background, on threads of the reader ranks, what tw_get_array has
 *  requested with TW_DEFERRED so far; the next tw_read fills the arrays. Data that exceed the
 * setting "staging" are read by tw_read, which also returns any read errors.
 *  @return TW_OK, TW_EMISMATCH (requests differ between ranks), TW_ENOMEM
 *  @note Collective */
tw_status tw_prefetch(tw_file file);

#ifdef __cplusplus
}
#endif

#endif
