/* Thalweg: parallel output of Earth-system model fields in file order.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The C interface. Handles are opaque; every function returns TW_OK (0) or one of the negative
 * codes below, and tw_error_message() returns the full text of a session's last error.
 *
 * Conventions
 * - Dimension names are listed slowest first, separated by blanks, as in netCDF's C interface:
 *   "time lev lat lon". A blank inside a name is escaped with a backslash, as in CDL. Starts,
 *   counts, shapes and strides follow the same order. Indices start at 0. (In the Fortran interface
 *   dimensions are listed fastest first, and indices start at 1.)
 * - Counts, indices and sizes are 64-bit.
 * - A function marked "@note Collective" must be called by every rank of the session's
 *   communicator; it returns the same code and sets the same text on every rank. All others are
 *   local: no rank waits for another.
 * - In every collective call the ranks first agree on which call it is. If they are in different
 *   calls (say, tw_create and tw_sync), all of them return TW_EMISMATCH, and none of the calls has
 *   any effect, with two exceptions: if some rank called tw_close, the file is closed on all ranks,
 *   unfinished; if some rank called tw_finalize, the session ends on all ranks.
 * - Threads: only one thread at a time may call into a session. A second one gets TW_ESTATE; the
 *   next collective call then returns the same error on all ranks and does nothing else, because
 *   other ranks may be waiting in the refused call. Under MPI_THREAD_MULTIPLE, threads that write
 *   at the same time need a session each, on communicators of their own, and cannot use
 *   storage=pnetcdf, which supports only one thread per process.
 * - A session must begin after MPI_Init and end before MPI_Finalize.
 */
#ifndef THALWEG_H
#define THALWEG_H

#include <mpi.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TW_VERSION_MAJOR 0
#define TW_VERSION_MINOR 1
#define TW_VERSION_PATCH 0

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
    X(TW_EDIFFERENT, -24, "the definitions differ from the file's")

#define TW_STATUS_ENUM(name, value, text) name = value,
enum tw_status { TW_STATUS_TABLE(TW_STATUS_ENUM) };
#undef TW_STATUS_ENUM

/** External and in-memory types; the values are netCDF's (nc_type). */
#ifdef __cplusplus
enum tw_type : int { /* callers in other languages may pass any number */
#else
typedef enum tw_type {
#endif
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
#ifdef __cplusplus
};
#else
} tw_type;
#endif

/** Length of the record dimension in tw_def_dim. */
#define TW_UNLIMITED ((int64_t)0)

typedef struct tw_session_impl* tw_session;
typedef struct tw_decomposition_impl* tw_decomposition;
typedef struct tw_file_impl* tw_file;

/** Name and text of a status code, e.g. "TW_EBOUNDS: index out of bounds". Never NULL. */
const char* tw_strerror(int status);

/* ---- session ------------------------------------------------------------------------------- */

/**
 * Starts a session on a duplicate of @p comm.
 * @param comm      the participating ranks: an intracommunicator
 * @param settings  NULL, or "name=value" pairs separated by ';' ("method=record; format=cdf5").
 *                  The environment (THALWEG_METHOD, ...) overrides them; they override the
 *                  configuration file (setting or environment THALWEG_CONFIG, TOML).
 * @param session   receives the handle, even after an error, so that tw_error_message can return
 *                  the text; free it with tw_finalize in either case
 * @return TW_OK, TW_EARG, TW_ESETTING, TW_ENOMEM, TW_EMPI (MPI is not running, or comm is
 *         MPI_COMM_NULL, an intercommunicator or a communicator that was freed)
 * @note Collective over comm
 */
int tw_init(MPI_Comm comm, const char* settings, tw_session* session);

/**
 * Closes the files still open (as tw_close does), writes the summary if the setting "summary" asks
 * for it, frees everything and sets the handle to NULL.
 * @return TW_OK, or the first error that no other call has returned yet; TW_EMPI if MPI_Finalize
 *         was called first: files that were open at that time remain as PATH.part, and tw_recover
 *         can complete them
 * @note Collective
 */
int tw_finalize(tw_session* session);

/**
 * Ends this rank's part of a session without the others: for a program that cannot continue and is
 * about to call MPI_Abort. Open files remain as PATH.part, and tw_recover can complete them; the
 * other ranks are not notified. Sets the handle to NULL. Local.
 * @return TW_OK, TW_EHANDLE
 */
int tw_abandon(tw_session* session);

/** What a rank does in its session. */
enum tw_role { TW_MODEL = 0, TW_SERVER = 1 };

/**
 * This rank's role. With the setting "servers" some ranks are dedicated to I/O: on them tw_init
 * runs the server, and returns when all model ranks have called tw_finalize; a server then only has
 * to call tw_finalize itself. Local.
 * @param role  receives TW_MODEL or TW_SERVER
 * @return TW_OK, TW_EARG
 */
int tw_inq_role(tw_session session, int* role);

/**
 * The communicator of the ranks that are not servers, in the order of the session's communicator;
 * the model uses it in place of the one it passed to tw_init. Local.
 * @param comm  receives the communicator, which belongs to the session, is valid until tw_finalize
 *              and carries none of the library's messages; MPI_COMM_NULL on a server
 * @return TW_OK, TW_EARG
 */
int tw_model_comm(tw_session session, MPI_Comm* comm);

/** Full text of this rank's last error in this session; "" if there was none. If this thread's last
 * call had a null handle, or was refused because another thread was in a call, the text is that
 * error's. Valid until the next call. Local. */
const char* tw_error_message(tw_session session);

/** Rank 0 prints the effective settings, and where each value comes from, to standard output.
 *  Local. */
int tw_print_config(tw_session session);

/**
 * JSON summary of the session so far: phases (seconds, slowest rank), bytes, writes, messages,
 * peak memory, totals per file; files beyond the first 1000 are summed up. The text belongs
 * to the session and is valid until the next call of this function; it is the same on every rank.
 * @note Collective
 */
int tw_summary(tw_session session, const char** json);

/** Rank 0 prints the summary as a table to standard output. @note Collective */
int tw_print_summary(tw_session session);

/* ---- decomposition ------------------------------------------------------------------------- */

/**
 * Declares which elements of an index space this rank holds, as any number of boxes. In memory a
 * box is dense, and the boxes follow one another; if they are parts of larger arrays, see tw_pad.
 * @param dims     names of the dimensions in the order of the array in memory, slowest first
 * @param nblocks  number of boxes on this rank, 0 or more; may differ between ranks
 * @param shape    [ndims] global lengths, the same on every rank
 * @param start    [nblocks * ndims] first global index of each box
 * @param count    [nblocks * ndims] lengths of each box
 * A name may occur twice, with the same length ("n n", a covariance): its first occurrence matches
 * the first dimension of that name in the variable, the second one the second.
 * @return TW_OK, TW_EARG, TW_ESHAPE, TW_EBOUNDS, TW_EOVERLAP (an element is in two boxes),
 *         TW_EMISMATCH (names or shape differ between ranks)
 * @note Collective
 */
int tw_decompose(tw_session session, const char* dims, int nblocks, const int64_t* shape,
                 const int64_t* start, const int64_t* count, tw_decomposition* decomposition);

/**
 * As tw_decompose, for arrays with a halo: in memory every box has halo_low[d] extra elements
 * before it and halo_high[d] after it along dimension d. They are never written.
 * @param halo_low, halo_high  [ndims], in elements; NULL for none
 * @note Collective
 */
int tw_decompose_halo(tw_session session, const char* dims, int nblocks, const int64_t* shape,
                      const int64_t* start, const int64_t* count, const int64_t* halo_low,
                      const int64_t* halo_high, tw_decomposition* decomposition);

/** Flags of tw_decompose_list. */
enum tw_list_flags {
    TW_LIST_UNIQUE = 0, /**< every index occurs at most once on all ranks together: for writing and
                             reading */
    TW_LIST_SHARED = 1  /**< indices may occur more than once, on any ranks: for reading only */
};

/**
 * Declares which elements of an index space this rank holds, as a list of global indices in any
 * order: columns of an unstructured mesh, land points. The list covers some of the dimensions; of
 * the others, every rank holds the full length. In memory the listed dimensions are a single one of
 * length n, in the same position: an array has n elements times the lengths of the other
 * dimensions, and tw_put_strided and tw_get_strided take that number of dimensions. Elements that
 * are in no rank's list get the fill value.
 * @param dims     names of all dimensions in the order of the array in memory, slowest first
 * @param shape    [ndims] global lengths, the same on every rank
 * @param listed   names of the dimensions that the list covers: one or more that are adjacent in
 *                 dims, in the same order
 * @param n        length of this rank's list, 0 or more
 * @param indices  [n] global index of each position of the list, from 0, row-major over the listed
 *                 dimensions; -1 marks a hole: the position exists in memory but not in the file.
 *                 Holes are not written, and reads leave them unchanged. The array can be reused
 *                 when the call returns.
 * @param flags    enum tw_list_flags, the same on every rank
 * @return TW_OK, TW_EARG, TW_EEXISTS, TW_ESHAPE, TW_EBOUNDS (an index outside the shape),
 *         TW_EOVERLAP (an index occurs twice, on one rank or on two; not with TW_LIST_SHARED),
 *         TW_EMISMATCH (names, shape or flags differ between ranks), TW_ENOMEM
 * @note Collective
 */
int tw_decompose_list(tw_session session, const char* dims, const int64_t* shape,
                      const char* listed, int64_t n, const int64_t* indices, int flags,
                      tw_decomposition* decomposition);

/** What reads do with the halo along a dimension. */
enum tw_edge {
    TW_HALO_KEEP = 0,    /**< leave it unchanged: the default */
    TW_HALO_CLIP = 1,    /**< read it within the global shape; leave what is outside unchanged */
    TW_HALO_PERIODIC = 2 /**< read it, with periodic indices: the last is followed by the first */
};

/**
 * Sets what reads called from now on do with the halos of a decomposition's arrays, corners
 * included. Halos are never written.
 * @param edges  [ndims] enum tw_edge of each dimension, in the decomposition's order
 * @return TW_OK, TW_EARG, TW_EMISMATCH
 * @note Collective
 */
int tw_fill_halo(tw_decomposition decomposition, const int* edges);

/**
 * Declares that the boxes of a decomposition are parts of larger arrays, all of the same extent, as
 * in models with blocks: of an array (max_blocks, ny_block, nx_block) some blocks are smaller than
 * the others and some are not used. In memory each box begins after halo_low elements along each
 * dimension; the elements after it and its halo are padding, which is never written. This applies
 * to the variables defined, reads called and restarts written from now on. They take arrays of
 *   - boxes x extent elements, or extent elements for each box that this rank has;
 *   - with the functions named _strided also without the halo: extent - halo_low - halo_high along
 *     each dimension.
 * A warning is logged if the extent along some dimension is larger than every box with its halo,
 * because an undeclared halo would be written as part of the box.
 * @param extent  [ndims] length of the array of one box along each dimension, halo included; the
 *                same on every rank, and at least that of every box with its halo
 * @param boxes   number of boxes that this rank's arrays have room for; at least as many as it has
 * @return TW_OK, TW_EARG (a list), TW_ESHAPE (a box does not fit), TW_EMISMATCH (the extents differ
 *         between ranks)
 * @note Collective
 */
int tw_pad(tw_decomposition decomposition, const int64_t* extent, int64_t boxes);

/**
 * Frees a decomposition and sets the handle to NULL. Variables, restarts and reads that use it keep
 * what they need. Calls with a copy of the handle return TW_EHANDLE until tw_finalize, which frees
 * all decompositions that are left. Local: ranks may free it at different times, or never.
 * @return TW_OK, TW_EHANDLE
 */
int tw_free_decomposition(tw_decomposition* decomposition);

/* ---- files: definitions -------------------------------------------------------------------- */

/**
 * Creates a netCDF file. It is called PATH.part until it is closed (see the setting "publish").
 * docs/files.md says what happens to an existing file of that name, and how concurrent writers are
 * kept out.
 * @param path      the same text on all ranks; a relative path is relative to the working directory
 *                  that rank 0 has during this call
 * @param settings  NULL or "name=value; ..." for this file only: method, storage, format, ...
 * @return TW_OK, TW_EARG, TW_ESETTING, TW_EMISMATCH (paths differ), TW_EINUSE (open in this
 *         session, or being written by another session or run, whose host and process the text
 *         names), TW_EIO (with the system's error text: missing directory, path is a directory, no
 *         permission; also if the path is not a regular file, or is one that this user could not
 *         replace at tw_close)
 * @note Collective
 */
int tw_create(tw_session session, const char* path, const char* settings, tw_file* file);

/** Defines a dimension; length TW_UNLIMITED makes it the record dimension. Needed only for
 *  dimensions that no decomposition names. Every rank must call it with the same arguments. Local;
 *  tw_enddef reports differences. */
int tw_def_dim(tw_file file, const char* name, int64_t length);

/**
 * Defines a variable.
 * Every rank must call it with the same arguments. Local; tw_enddef reports differences.
 * @param dims           names in file order, slowest first ("time lev lat lon"); "" for a scalar.
 *                       Names not yet defined that the decomposition has are defined with its
 *                       lengths. If the first name of a variable with a decomposition is neither
 *                       defined nor in the decomposition, it becomes the record (unlimited)
 *                       dimension, unless the file already has one.
 * @param decomposition  which rank holds what; its dimensions must be those of the variable without
 *                       the record dimension, in any order. NULL: the variable is replicated: every
 *                       rank holds all of it, and rank 0's values are written.
 * @return TW_OK, TW_EARG, TW_EEXISTS, TW_ENOTFOUND, TW_ESHAPE, TW_ETYPE, TW_EFORMAT, TW_ESTATE
 */
int tw_def_var(tw_file file, const char* name, tw_type type, const char* dims,
               tw_decomposition decomposition);

/** Sets an attribute of n values; var NULL or "" for a global one. Allowed until tw_close; it must
 *  be the same on every rank. Local; tw_enddef or tw_close reports differences. With the setting
 *  attributes=first, rank 0's attributes are written, and other ranks need not set any. */
int tw_put_att(tw_file file, const char* var, const char* name, tw_type type, int64_t n,
               const void* values);

/** Sets a text attribute. As tw_put_att. */
int tw_put_att_text(tw_file file, const char* var, const char* name, const char* text);

/**
 * Settings of one variable: "name=value; name=value".
 * - fill: the fill value, without the attribute _FillValue: "fill=0", "fill=1e30", "fill=nan"; of a
 *   text variable, one character. It is written wherever nothing was put: elements that no rank
 *   holds, records and variables never put, values that do not fit the type. A classic file does
 *   not record it (a netCDF-4 file does, as HDF5's fill value), so set it again with mode=append.
 *   If the variable has the attribute _FillValue as well, the two must be equal.
 * - deflate, shuffle, zstd, quantize, chunks: how the variable is stored in a netCDF-4 file. They
 *   override those of the file, and are ignored in classic formats (logged at level info).
 * Only before the definitions end, with the same arguments on every rank. Local; tw_enddef reports
 * differences.
 * @return TW_OK, TW_ESETTING (also: a fill value that the type cannot represent, or that differs
 *         from the attribute's), TW_ENOTFOUND, TW_ESTATE
 */
int tw_set_var(tw_file file, const char* var, const char* settings);

/** What tw_set_record does with the file's records from the given one on. */
enum tw_later {
    TW_KEEP_LATER = 0, /**< they stay until they are overwritten */
    TW_DROP_LATER = 1  /**< they are removed when the definitions end */
};

/**
 * For a file opened with mode=append: sets which record the first step writes; without this call it
 * is the one after the last record. Each step then writes the next record, and all of it: variables
 * that are not put get the fill value. Only before the definitions end, with the same arguments on
 * every rank. Local; tw_enddef reports differences.
 * @param record  from 0 to the number of records that tw_inq returns
 * @param later   enum tw_later
 * @return TW_OK, TW_EBOUNDS, TW_EARG, TW_ESTATE (a new file, or the definitions have ended),
 *         TW_ECLOSED
 */
int tw_set_record(tw_file file, int64_t record, int later);

/** Ends the definitions: checks that they are the same on all ranks (TW_EMISMATCH), lays out the
 *  file and writes its header; with mode=append: compares them with the file's (TW_EDIFFERENT).
 *  Optional: the first tw_put, tw_end_step, tw_sync or tw_close does it. @note Collective */
int tw_enddef(tw_file file);

/* ---- files: data --------------------------------------------------------------------------- */

/**
 * Puts this rank's part of a variable; for a record variable, of the current record. A second put
 * of the same variable before the step ends replaces the first.
 * @param type  type of the values in memory; numbers are converted, and those that do not fit the
 *              variable's type become the fill value (tw_end_step then returns TW_ERANGE)
 * @param data  the boxes of the decomposition, with their halos, one after another (a replicated
 *              variable: all of it). The array can be reused when the call returns.
 * @param n     number of elements at data, halos (and padding, see tw_pad) included; checked
 * @return TW_OK, TW_ENOTFOUND, TW_ETYPE, TW_ESHAPE, TW_ESTATE, TW_ECLOSED, TW_ENOMEM, or the error
 *         of an earlier failed write of this file
 * @note Local, with two exceptions: the first call in define mode (see tw_enddef); and files whose
 *       step does not fit into the setting "staging" (with a service: "queue"): then every tw_put
 *       is collective, with puts in the same order on all ranks (the log reports it).
 */
int tw_put(tw_file file, const char* var, tw_type type, const void* data, int64_t n);

/** As tw_put, but without the copy, which is the fastest way to write: data must stay valid and
 *  unchanged until the tw_end_step (or tw_close) that writes it has succeeded; for a fixed-size
 *  variable, until the next tw_end_step, tw_sync or tw_close. That call returns TW_EARG if it
 *  detects that data have changed or are gone (not every case is detected), or that two variables
 *  share an array. Local, except the first call in define mode. */
int tw_put_deferred(tw_file file, const char* var, tw_type type, const void* data, int64_t n);

/** Flags of tw_put_strided. */
enum tw_put_flags { TW_COPY = 0, TW_DEFERRED = 1 };

/**
 * As tw_put, or with TW_DEFERRED as tw_put_deferred, for an array of any strides.
 * @param data         the first element
 * @param rank         number of array dimensions: that of the decomposition, or one more (the
 *                     slowest), which counts the boxes
 * @param extent       [rank] lengths in memory, with or without the halo: of the box; of several
 *                     boxes, the largest along each dimension; after tw_pad, the extent set there.
 *                     Of a replicated variable, its shape. All ranks (except those that hold
 *                     nothing) must agree on whether the halo is included; otherwise the
 *                     tw_end_step, tw_sync or tw_close that would write it, or tw_get, returns
 *                     TW_EMISMATCH.
 * @param byte_stride  [rank] bytes from one element to the next along each dimension; may be
 *                     negative
 * @param flags        TW_COPY or TW_DEFERRED
 */
int tw_put_strided(tw_file file, const char* var, tw_type type, const void* data, int rank,
                   const int64_t* extent, const int64_t* byte_stride, int flags);

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
 * tw_put_box, a step in which no rank calls tw_put adds no record. In one step, a rank must put a
 * record of a variable either with tw_put or with these calls, not with both. Local, except the
 * first call in define mode (see tw_enddef).
 * @param decomposition  which rank holds what: its dimensions have the names of the variable's,
 *                       without the record dimension, in any order; NULL: every rank holds all of
 *                       it, and rank 0's values are written
 * @param record         record number, from 0; ignored for a variable without record dimension
 * @param data           as for tw_put; can be reused when the call returns
 * @param n              number of elements at data, halos (and padding, see tw_pad) included;
 *                       checked
 * @return TW_OK, TW_ENOTFOUND, TW_ETYPE, TW_EARG, TW_ESHAPE, TW_EBOUNDS (record < 0), TW_EOVERLAP
 *         (TW_LIST_SHARED), TW_ERANGE (some values did not fit the variable's type), TW_EFORMAT
 *         (more records than the format can count), TW_ESTATE (tw_put was used for this record of
 *         the variable in this step; storage pnetcdf; netCDF-4 with filters or requested chunks),
 *         TW_ENOMEM (what a rank puts in a step is kept until the step ends: with service inline at
 *         most "staging" bytes, with background on several nodes at most "queue"), TW_EHANDLE (the
 *         decomposition belongs to another session), or an earlier error of the file
 */
int tw_put_record(tw_file file, const char* var, tw_decomposition decomposition, int64_t record,
                  tw_type type, const void* data, int64_t n);

/** As tw_put_record, for an array of any strides; see tw_put_strided. */
int tw_put_record_strided(tw_file file, const char* var, tw_decomposition decomposition,
                          int64_t record, tw_type type, const void* data, int rank,
                          const int64_t* extent, const int64_t* byte_stride);

/**
 * Puts any box of a variable, independent of its decomposition: for programs that do not know
 * beforehand what a rank will write. Records and steps as for tw_put_record. With service servers,
 * or background on one node, a rank that puts a box (also one with a count of 0) before its first
 * tw_end_step may end any number of steps, whatever the other ranks do. Local, except the first
 * call in define mode (see tw_enddef).
 * @param start, count  [dimensions of the variable] in elements, the record dimension included,
 *                      slowest first; a count of 0 puts nothing
 * @param data          dense, of the given type; can be reused when the call returns
 * @return as tw_put_record; TW_EBOUNDS: the box is not within the variable
 */
int tw_put_box(tw_file file, const char* var, tw_type type, const int64_t* start,
               const int64_t* count, const void* data);

/**
 * Writes what was put and ends the current record; the next put belongs to the next record.
 * Record variables that no rank has put get their fill value.
 * With service background or servers the call hands over the step and returns; errors of the write
 * come from later calls on the file, and on all ranks alike from tw_sync, tw_close and tw_finalize.
 * @return TW_OK; TW_EMISSING if a variable was put on some ranks only; TW_EMISMATCH if it was put
 *         with its halo on some ranks and without it on others; TW_EARG if an array of
 *         tw_put_deferred has changed (with these three the step stays open; with a service they
 *         are errors of the file); TW_ERANGE if values did not fit the variable's type (they become
 *         the fill value; with netCDF-C they are undefined); TW_EIO; with a service also the error
 *         of an earlier step, on the ranks that know of it: see docs/services.md
 * @note Collective
 */
int tw_end_step(tw_file file);

/** Makes all records ended so far visible to other programs and, with durable != 0, syncs them to
 *  the device (fsync). From then on the inquiry and reading functions also work on this handle. For
 *  a file open for reading: looks for new records. @note Collective */
int tw_sync(tw_file file, int durable);

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
int tw_close(tw_file* file);

/** What tw_recover does if the file of the final name has more records than the temporary one. */
enum tw_recovery {
    TW_KEEP_LONGER = 0,   /**< change nothing and return TW_EEXISTS */
    TW_REPLACE_LONGER = 1 /**< replace it */
};

/**
 * Waits for files that were closed with close=later, the oldest first.
 * @param most  number of files that may remain incomplete: 0 waits for all; with a large number it
 *              does not wait, and only gives the files that are written their final names
 * @return TW_OK; the error of a file that failed after tw_close, if no call has returned it yet;
 *         TW_EARG (most < 0); TW_EMISMATCH (most differs between ranks)
 * @note Collective
 */
int tw_wait(tw_session session, int64_t most);

/**
 * Completes the file that a killed run left under its temporary name: keeps the records counted in
 * its header, cuts off everything after them, and gives the file its final name. An existing file
 * of that name is replaced, unless it has more records. See docs/recovery.md. Local: one process
 * calls it, without a session and without MPI.
 * @param path    the final name or the temporary one, PATH.part or PATH.part.N; a file that exists
 *                only under its final name (publish=live) is completed in place if necessary
 * @param longer  enum tw_recovery
 * @param text    NULL, or receives what was done, or the error
 * @param length  size of text in bytes, with the terminating zero
 * @return TW_OK; TW_ENOTFOUND if there is no such file; TW_EFORMAT if it cannot be read (the run
 *         was killed before the definitions were written, or the file is damaged); TW_EEXISTS if
 *         the file of the final name has more records; TW_EINUSE if a run is still writing it;
 *         TW_EIO; TW_EARG; TW_ENOMEM. After an error nothing has been changed
 */
int tw_recover(const char* path, int longer, char* text, int64_t length);

/* ---- files: reading ------------------------------------------------------------------------ */

/* A file that is being written can be read through its own handle, by all functions below except
 * tw_open and tw_prefetch. They show what the last tw_sync made readable: the records that had
 * ended, and the fixed-size variables that had been put completely. Later data are not seen before
 * the next tw_sync, except elements that are written again. TW_ESTATE: before the first tw_sync;
 * for a fixed-size variable that is not known to be complete; and for a netCDF-4 file with service
 * background or servers, if something was put since the last tw_sync. TW_EUNSUPPORTED: sets of
 * tiles (tile_files) and storage memory. tw_get_deferred checks less than for a file opened for
 * reading; tw_read reports the rest. See docs/reading.md. */

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
 *                  read_ahead, staging, bandwidth; with mode=append all those that control how
 *                  a file is written
 * @return TW_OK, TW_EARG, TW_ESETTING, TW_EIO (with the system's error text; also: a tile is
 *         missing), TW_EFORMAT (not a netCDF file, an inconsistent header, or tiles that do not
 *         belong together), TW_EMISMATCH (paths differ), TW_EINUSE (a netCDF-4 file that another
 *         program has locked for writing). With mode=append also TW_EUNSUPPORTED (netCDF-4, tiles),
 *         TW_EINUSE (open in this session, or being written by another session or run), TW_EIO (not
 *         writable, or truncated), TW_ESETTING (another format, or tile_files=yes)
 * @note Collective
 */
int tw_open(tw_session session, const char* path, const char* settings, tw_file* file);

/* Inquiry. Local, with the same results on every rank. Dimensions, variables and attributes are
 * numbered from 0 in the order of the file. Pointers for results may be NULL; names belong to the
 * file and are valid until tw_close. For a file that is being written the results are its
 * definitions, with the attributes and records of the last tw_sync; with mode=append, before the
 * first tw_sync, those of the time when it was opened.
 * Errors: TW_ENOTFOUND, TW_EBOUNDS (no such number), TW_EARG, TW_ESTATE (a new file, before the
 * first tw_sync), TW_ECLOSED. */

/** The file: its format ("cdf1", "cdf2", "cdf5", "netcdf4", "netcdf4-classic"), and its number of
 *  dimensions, variables, global attributes and records. */
int tw_inq(tw_file file, const char** format, int* ndims, int* nvars, int* natts, int64_t* records);

/** Length of a dimension; for the record dimension, the number of records. */
int tw_inq_dim(tw_file file, const char* name, int64_t* length);

/** Name of a dimension by its number. */
int tw_inq_dim_name(tw_file file, int index, const char** name);

/** Name of the record dimension, "" if there is none. If there are several unlimited dimensions
 *  (netCDF-4), it is the first; the others keep the length that they had when the file was opened.
 */
int tw_inq_unlimited(tw_file file, const char** name);

/** Name of a variable by its number. */
int tw_inq_var_name(tw_file file, int index, const char** name);

/** Type, number of dimensions (with the record dimension) and number of attributes of a variable.
 *  The type is 0 for strings and user-defined types (netCDF-4), which cannot be read. */
int tw_inq_var(tw_file file, const char* var, tw_type* type, int* ndims, int* natts);

/** Name and length of a variable's dimension: index 0 is the slowest. */
int tw_inq_var_dim(tw_file file, const char* var, int index, const char** name, int64_t* length);

/** Name of an attribute by its number; var NULL or "" for a global one. */
int tw_inq_att_name(tw_file file, const char* var, int index, const char** name);

/** Type and number of values of an attribute; for text, the number of characters. A single string
 *  (netCDF-4) is text (TW_CHAR); for other strings and user-defined types the type is 0. */
int tw_inq_att(tw_file file, const char* var, const char* name, tw_type* type, int64_t* n);

/**
 * Values of an attribute, converted to the given type by netCDF's rules.
 * @param n  number of elements at `values`: the number that tw_inq_att returns
 * @return also TW_ETYPE (between text and numbers), TW_ESHAPE (wrong n), TW_ERANGE (some values do
 *         not fit the type; they become its fill value, and the others are valid), TW_EUNSUPPORTED
 *         (its type is 0)
 */
int tw_get_att(tw_file file, const char* var, const char* name, tw_type type, int64_t n,
               void* values);

/** A text attribute, with a terminating zero byte: `size`, in bytes, must be at least one more than
 *  the length that tw_inq_att returns. Returns also TW_ETYPE, TW_ESHAPE (size too small). */
int tw_get_att_text(tw_file file, const char* var, const char* name, int64_t size, char* text);

/**
 * Reads this rank's part of a variable, whatever the order of its dimensions in the file.
 * @param decomposition  what each rank reads: its dimensions have the names of the variable's,
 *                       without the record dimension, in any order; NULL: every rank reads all
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
int tw_get(tw_file file, const char* var, tw_decomposition decomposition, int64_t record,
           tw_type type, void* data, int64_t n);

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
 * @return TW_OK, TW_ENOTFOUND, TW_ETYPE, TW_EARG (a stride below 1; an array is missing),
 *         TW_EBOUNDS (the text names the dimension, the values and the rank), TW_ERANGE (some
 *         values do not fit the type; they become its fill value, and the others are valid),
 *         TW_EMISMATCH (the variable differs between ranks), TW_EIO, TW_EFORMAT, TW_EUNSUPPORTED as
 *         of tw_get. After any error except TW_ERANGE the contents of the arrays are undefined.
 * @note Collective
 */
int tw_get_box(tw_file file, const char* var, tw_type type, const int64_t* start,
               const int64_t* count, const int64_t* stride, void* data);

/** Requests what tw_get would read; the next tw_read reads it, with everything else requested. Do
 *  not use the array until then; each request needs an array of its own. Every rank must request
 *  the same variables, records and decompositions in the same order. Local. */
int tw_get_deferred(tw_file file, const char* var, tw_decomposition decomposition, int64_t record,
                    tw_type type, void* data, int64_t n);

/** As tw_get, or with TW_DEFERRED as tw_get_deferred, for an array of any strides; see
 *  tw_put_strided. If the extents do not include the halo, no halo is read. @note Collective,
 *  unless deferred */
int tw_get_strided(tw_file file, const char* var, tw_decomposition decomposition, int64_t record,
                   tw_type type, void* data, int rank, const int64_t* extent,
                   const int64_t* byte_stride, int flags);

/** Reads everything requested with tw_get_deferred, in one pass through the file: the fastest way
 *  to read many variables. Afterwards no request is left, even after an error. Errors as of tw_get.
 *  @note Collective */
int tw_read(tw_file file);

/** Starts reading in the background, on threads of the reader ranks, what tw_get_deferred has
 *  requested so far; the next tw_read fills the arrays. Data that exceed the setting "staging" are
 *  read by tw_read, which also returns any read errors.
 *  @return TW_OK, TW_EMISMATCH (requests differ between ranks), TW_ENOMEM
 *  @note Collective */
int tw_prefetch(tw_file file);

#ifdef __cplusplus
}
#endif

#include "thalweg/restart.h"

#endif
