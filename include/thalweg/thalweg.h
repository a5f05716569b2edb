/* Thalweg: parallel output of Earth-system model fields in file order.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The C interface. Handles are opaque; every function returns TW_OK (0) or one of the negative
 * codes below, and tw_error_message() gives the full text of the last failure of a session.
 *
 * Conventions
 * - Dimension names are listed slowest first, separated by blanks: "time lev lat lon", as netCDF's
 *   own C interface orders them; a blank that belongs to a name has a backslash before it, as in
 *   CDL. Starts, counts, shapes and strides follow the same order. Indices
 *   start at 0. (The Fortran interface has its own order, fastest first, and starts at 1.)
 * - Counts, indices and sizes are 64-bit.
 * - A function marked "@note Collective" must be called by every rank of the session's
 *   communicator; it reports the same code and the same text on every rank.
 *   All others are local: no rank waits for another.
 * - Every collective call begins with an agreement on which call it is. Ranks that make different
 *   ones (tw_create and tw_sync) are told so: TW_EMISMATCH on all of them, and nothing is done.
 * Only what some rank has given up by its call is given up by all: a file by tw_close, unfinished,
 * and the session by tw_finalize.
 * - Threads: one thread at a time may be in the calls of a session. A second one gets TW_ESTATE,
 * and so do all ranks from their next collective call, which does nothing else: other ranks may
 * wait in the call that was refused. With MPI_THREAD_MULTIPLE, threads that write at the same time
 * use a session each, on communicators of their own, and not storage pnetcdf, which takes one
 * thread.
 * - A session lives between MPI_Init and MPI_Finalize.
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

/** The table of status codes: X(name, value, text). The names and texts of all languages are made
 * from it. */
#define TW_STATUS_TABLE(X)                                                                         \
    X(TW_OK, 0, "no error")                                                                        \
    X(TW_EHANDLE, -1, "not a valid handle")                                                        \
    X(TW_EARG, -2, "invalid argument")                                                             \
    X(TW_ENOTFOUND, -3, "no such dimension, variable or attribute")                                \
    X(TW_EEXISTS, -4, "the name is already in use")                                                \
    X(TW_ESHAPE, -5, "shape, size or rank does not fit")                                           \
    X(TW_EBOUNDS, -6, "index outside the global shape")                                            \
    X(TW_EOVERLAP, -7, "an element is held more than once")                                        \
    X(TW_ETYPE, -8, "text and numbers cannot be converted into each other, or an unknown type")    \
    X(TW_ERANGE, -9, "a value does not fit the variable's type")                                   \
    X(TW_ESTATE, -10, "the call is not allowed in this state of the file")                         \
    X(TW_EMISMATCH, -11, "the ranks do not agree")                                                 \
    X(TW_EMISSING, -12, "a variable of the step is missing on some ranks")                         \
    X(TW_EFORMAT, -13, "the file format cannot hold this")                                         \
    X(TW_EIO, -14, "input or output failed")                                                       \
    X(TW_EINUSE, -15, "the file is in use")                                                        \
    X(TW_ESETTING, -16, "unknown setting or value")                                                \
    X(TW_ECLOSED, -17, "the file is closed")                                                       \
    X(TW_ENOMEM, -18, "not enough memory")                                                         \
    X(TW_EMPI, -19, "an MPI call failed")                                                          \
    X(TW_ENETCDF, -20, "a netCDF library call failed")                                             \
    X(TW_EUNSUPPORTED, -21, "not supported")                                                       \
    X(TW_EINTERNAL, -22, "internal error")                                                         \
    X(TW_ECHECKSUM, -23, "the data do not have their checksum")                                    \
    X(TW_EDIFFERENT, -24, "the file is defined otherwise")

#define TW_STATUS_ENUM(name, value, text) name = value,
enum tw_status { TW_STATUS_TABLE(TW_STATUS_ENUM) };
#undef TW_STATUS_ENUM

/** External and in-memory types; the values are netCDF's (nc_type). */
#ifdef __cplusplus
enum tw_type : int { /* callers in other languages may hand over any number */
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

/** Name and text of a status code, e.g. "TW_ESHAPE: shape, size or rank does not fit". Never NULL.
 */
const char* tw_strerror(int status);

/* ---- session ------------------------------------------------------------------------------- */

/**
 * Starts a session on a duplicate of @p comm.
 * @param comm      the ranks that take part: an intracommunicator
 * @param settings  NULL, or "name=value" pairs separated by ';' ("method=record; format=cdf5").
 *                  The environment (THALWEG_METHOD, ...) overrides them; they override the
 *                  configuration file (setting or environment THALWEG_CONFIG, TOML).
 * @param session   receives the handle; after a failure too, so that tw_error_message can tell
 *                  the reason; release it with tw_finalize in both cases
 * @return TW_OK, TW_EARG, TW_ESETTING, TW_ENOMEM, TW_EMPI (MPI is not running, or comm is
 *         MPI_COMM_NULL, an intercommunicator or freed)
 * @note Collective over comm
 */
int tw_init(MPI_Comm comm, const char* settings, tw_session* session);

/**
 * Closes the files still open (as tw_close does), writes the summary if asked for, frees all and
 * sets the handle to NULL.
 * @return TW_OK or the first error that had not been returned yet; TW_EMPI if MPI_Finalize was
 *         called before it: files that were open then stay as PATH.part, which tw_recover completes
 * @note Collective
 */
int tw_finalize(tw_session* session);

/**
 * Ends this rank's part of a session without the others: for a program that cannot go on, and is
 * about to call MPI_Abort. Files that are open stay as PATH.part, which tw_recover completes; the
 * other ranks are told nothing. Sets the handle to NULL.
 * @return TW_OK, TW_EHANDLE
 * Local.
 */
int tw_abandon(tw_session* session);

/** What a rank does in its session. */
enum tw_role { TW_MODEL = 0, TW_SERVER = 1 };

/**
 * This rank's role. With the setting "servers" some ranks are set aside: on them tw_init serves
 * until all model ranks have called tw_finalize, and then returns; all they have left to do is to
 * call tw_finalize themselves.
 * @param role  receives TW_MODEL or TW_SERVER
 * @return TW_OK, TW_EARG
 */
int tw_inq_role(tw_session session, int* role);

/**
 * The communicator of the ranks that are no servers, in the order of the session's; what the model
 * uses in place of the one it gave to tw_init.
 * @param comm  receives the communicator, which belongs to the session, lives until tw_finalize
 *              and carries none of the library's messages; MPI_COMM_NULL on a server
 * @return TW_OK, TW_EARG
 */
int tw_model_comm(tw_session session, MPI_Comm* comm);

/** Full text of this rank's last failure in this session; "" if there was none. After a call of
 * this thread with a null handle, or one that was refused for its thread, it tells of that. Valid
 * until the next call. */
const char* tw_error_message(tw_session session);

/** Prints the effective table of settings, with where each value comes from, on rank 0 to
 *  standard output. Local. */
int tw_print_config(tw_session session);

/**
 * JSON summary of the session so far: phases (seconds, slowest rank), bytes, writes, messages,
 * peak memory, per file. The text belongs to the session and is valid until the next call of this
 * function; it is the same on every rank.
 * @note Collective
 */
int tw_summary(tw_session session, const char** json);

/** Prints the same as a table on rank 0 to standard output. @note Collective */
int tw_print_summary(tw_session session);

/* ---- decomposition ------------------------------------------------------------------------- */

/**
 * Declares which elements of an index space this rank holds: any number of boxes.
 * @param dims     names of the dimensions in the order of the array in memory, slowest first
 * @param nblocks  number of boxes on this rank, 0 or more; may differ between ranks
 * @param shape    [ndims] global lengths, the same on every rank
 * @param start    [nblocks * ndims] first global index of each box
 * @param count    [nblocks * ndims] lengths of each box
 * In memory a box is dense, and the boxes follow one another; where they are parts of larger
 * arrays, see tw_pad.
 * @return TW_OK, TW_EARG, TW_ESHAPE, TW_EBOUNDS, TW_EOVERLAP (an element held twice),
 *         TW_EMISMATCH (names or shape differ between ranks)
 * @note Collective
 */
int tw_decompose(tw_session session, const char* dims, int nblocks, const int64_t* shape,
                 const int64_t* start, const int64_t* count, tw_decomposition* decomposition);

/**
 * As tw_decompose, for arrays with a halo: in memory every box has halo_low[d] elements before and
 * halo_high[d] after its own along dimension d; they are never written.
 * @param halo_low, halo_high  [ndims], NULL for none
 * @note Collective
 */
int tw_decompose_halo(tw_session session, const char* dims, int nblocks, const int64_t* shape,
                      const int64_t* start, const int64_t* count, const int64_t* halo_low,
                      const int64_t* halo_high, tw_decomposition* decomposition);

/** Flags of tw_decompose_list. */
enum tw_list_flags {
    TW_LIST_UNIQUE = 0, /**< every index is in one place at most: for writing and reading */
    TW_LIST_SHARED = 1  /**< indices may occur more than once, on any ranks: for reading alone */
};

/**
 * Declares which elements of an index space this rank holds by a list of global indices, in any
 * order: columns of an unstructured mesh, land points. The list runs over some of the dimensions;
 * the others are held whole.
 * @param dims     names of all dimensions in the order of the array in memory, slowest first
 * @param shape    [ndims] global lengths, the same on every rank
 * @param listed   names of the dimensions that the list runs over: one or more neighbours in dims,
 *                 in the same order
 * @param n        number of positions of the list on this rank, 0 or more
 * @param indices  [n] global index of each position, counted from 0, row-major over the listed
 *                 dimensions; -1 is a hole: the position exists in memory and has no place in the
 *                 file. Free to be changed when the call returns.
 * @param flags    enum tw_list_flags, the same on every rank
 * In memory the listed dimensions are one of length n, in their place among the others: an array
 * has n times the product of the other lengths elements, tw_put_strided and tw_get_strided take
 * that many dimensions. Holes are not written, and left as they are by reads. Elements that are in
 * no list are filled.
 * @return TW_OK, TW_EARG, TW_EEXISTS, TW_ESHAPE, TW_EBOUNDS (an index outside the shape),
 *         TW_EOVERLAP (an index twice, on one rank or on two; not with TW_LIST_SHARED),
 *         TW_EMISMATCH (names, shape or flags differ between ranks), TW_ENOMEM
 * @note Collective
 */
int tw_decompose_list(tw_session session, const char* dims, const int64_t* shape,
                      const char* listed, int64_t n, const int64_t* indices, int flags,
                      tw_decomposition* decomposition);

/** What tw_get does with the halo along a dimension. */
enum tw_edge {
    TW_HALO_KEEP = 0,    /**< leaves it as it is: the default */
    TW_HALO_CLIP = 1,    /**< fills it as far as the shape reaches; leaves what lies outside */
    TW_HALO_PERIODIC = 2 /**< fills it; behind the last index comes the first */
};

/**
 * Tells what the reads that are called from now on do with the halos of a decomposition's arrays,
 * corners included. Writing never writes halos.
 * @param edges  [ndims] enum tw_edge of each dimension, in the decomposition's order
 * @return TW_OK, TW_EARG, TW_EMISMATCH
 * @note Collective
 */
int tw_fill_halo(tw_decomposition decomposition, const int* edges);

/**
 * Tells that the boxes of a decomposition are parts of larger arrays, all of the same extents:
 * those of models with blocks, as (max_blocks, ny_block, nx_block), some of which are smaller than
 * the others and some not used. In memory each box begins after halo_low elements along each
 * dimension; what follows it and its halo is padding, which is never written. It counts for the
 * variables, reads and restarts that are defined, called and written from then on: they take arrays
 * of
 *   - boxes x extent elements, or as many boxes as this rank has;
 *   - with tw_put_strided and its relatives also the same without the halo: extent - halo_low -
 *     halo_high along each dimension.
 * @param extent  [ndims] elements from box to box along each dimension, the halo included; the same
 *                on every rank, and no less than any box with its halo
 * @param boxes   number of boxes that this rank's arrays have room for; at least those it has
 * @return TW_OK, TW_EARG (a list), TW_ESHAPE (a box does not fit), TW_EMISMATCH (the extents differ
 *         between ranks). Extents larger than every box with its halo are warned of, as a halo that
 *         was not declared would be taken for the box.
 * @note Collective
 */
int tw_pad(tw_decomposition decomposition, const int64_t* extent, int64_t boxes);

/* Decompositions belong to the session and are freed by tw_finalize. */

/* ---- files: definitions -------------------------------------------------------------------- */

/**
 * Creates a netCDF file. It appears under its own name when it is closed (see setting "publish").
 * What is there under its name and stays of it, and who else may write it: docs/files.md.
 * @param path      the same text on all ranks; a relative one is meant from the working folder that
 *                  rank 0 has during this call
 * @param settings  NULL or "name=value; ..." for this file alone: method, storage, format, ...
 * @return TW_OK, TW_EARG, TW_ESETTING, TW_EMISMATCH (different paths), TW_EINUSE (open in this
 *         session, or another session or run is writing it: the text names host and process),
 *         TW_EIO (with the system's words: a missing folder, a directory, no permission; also what
 *         is no regular file, and a file that could not be replaced when this one is closed)
 * @note Collective
 */
int tw_create(tw_session session, const char* path, const char* settings, tw_file* file);

/** Defines a dimension; length TW_UNLIMITED makes the record dimension. Needed only for
 *  dimensions that no decomposition names. Every rank must call it alike. Local. */
int tw_def_dim(tw_file file, const char* name, int64_t length);

/**
 * Defines a variable.
 * @param dims           names in file order, slowest first ("time lev lat lon"), "" for a scalar.
 *                       Names of the decomposition not yet defined get its lengths. The first name
 *                       of a variable with a decomposition, if it is neither, becomes the record
 *                       (unlimited) dimension, unless the file has one.
 * @param decomposition  who holds what; its dimensions must be those of the variable without the
 *                       record dimension, in any order. NULL: replicated, every rank holds the
 *                       whole and rank 0's values are written.
 * Every rank must call it alike. Local; disagreement is found by tw_enddef.
 * @return TW_OK, TW_EARG, TW_EEXISTS, TW_ENOTFOUND, TW_ESHAPE, TW_ETYPE, TW_EFORMAT, TW_ESTATE
 */
int tw_def_var(tw_file file, const char* name, tw_type type, const char* dims,
               tw_decomposition decomposition);

/** Sets an attribute of n values; var NULL or "" for a global one. Allowed until tw_close, as long
 *  as it is the same on every rank. Local; disagreement is found by tw_enddef or tw_close. */
int tw_put_att(tw_file file, const char* var, const char* name, tw_type type, int64_t n,
               const void* values);

/** Sets a text attribute. */
int tw_put_att_text(tw_file file, const char* var, const char* name, const char* text);

/**
 * Settings of one variable: "name=value; name=value".
 * - fill: its fill value, without the attribute _FillValue: "fill=0", "fill=1e30", "fill=nan", of a
 *   text one character. Whatever is not put becomes it: elements that no rank holds, records and
 *   variables that are never put, values that do not fit. The file does not tell of it (one of
 *   netCDF-4 does, by HDF5's fill value), so that with mode=append it has to be set again. Where
 *   there is a _FillValue, too, it must be the same.
 * - deflate, shuffle, zstd, quantize, chunks: how the variable is stored in a netCDF-4 file; they
 *   come before those of the file, and are ignored in a classic format (the log says so at level
 *   info).
 * Local, before the definitions end, alike on every rank; disagreement is found by tw_enddef.
 * @return TW_OK, TW_ESETTING (also: a fill value that the type cannot have, or that is not the
 *         attribute's), TW_ENOTFOUND, TW_ESTATE
 */
int tw_set_var(tw_file file, const char* var, const char* settings);

/** What tw_set_record does with the records of the file from there on. */
enum tw_later {
    TW_KEEP_LATER = 0, /**< they stay until they are written over */
    TW_DROP_LATER = 1  /**< they are dropped when the definitions end */
};

/**
 * Of a file opened with mode=append: which of its records the first step writes, in place of the
 * one behind the last. Each step then writes the next record, whole: variables that are not put are
 * filled. Local, before the definitions end, alike on every rank; disagreement is found by
 * tw_enddef.
 * @param record  0-based; at most the number of records that tw_inq tells
 * @param later   enum tw_later
 * @return TW_OK, TW_EBOUNDS, TW_EARG, TW_ESTATE (a new file, or the definitions have ended),
 *         TW_ECLOSED
 */
int tw_set_record(tw_file file, int64_t record, int later);

/** Ends the definitions: compares them over the ranks, lays out and writes the header; of a file
 *  opened with mode=append: compares them with the file's (TW_EDIFFERENT). Optional:
 *  the first tw_put, tw_end_step, tw_sync or tw_close does it. @note Collective */
int tw_enddef(tw_file file);

/* ---- files: data --------------------------------------------------------------------------- */

/**
 * Hands over this rank's part of a variable; for a record variable, of the current record. A
 * second put of the same variable before the step ends replaces the first.
 * @param type  type of the values in memory; numbers are converted, and those that do not fit the
 *              variable's type are filled (TW_ERANGE comes from tw_end_step)
 * @param data  the boxes of the decomposition, with their halos, one after another (a replicated
 *              variable: the whole). Free to be changed when the call returns.
 * @param n     number of elements at data, halos (and padding, see tw_pad) included; checked
 * @return TW_OK, TW_ENOTFOUND, TW_ETYPE, TW_ESHAPE, TW_ESTATE, TW_ECLOSED, TW_ENOMEM, or the kept
 *         error of an earlier failed write of this file
 * @note Local, but for the first call of a file in define mode (see tw_enddef), and but for files
 *       whose step exceeds the setting "staging" (with a service: "queue"): then collective, in the
 *       same order on all ranks (the log says so).
 */
int tw_put(tw_file file, const char* var, tw_type type, const void* data, int64_t n);

/** As tw_put, but without the copy: data must stay as it is until the tw_end_step (or tw_close)
 *  that writes it has succeeded; of a fixed-size variable, until the next tw_end_step, tw_sync or
 *  tw_close. That call returns TW_EARG where it finds that data have changed or are gone, which it
 *  does not always, or that two variables have the same. The fastest way to write. Always local,
 *  but for the first call in define mode. */
int tw_put_deferred(tw_file file, const char* var, tw_type type, const void* data, int64_t n);

/** Flags of tw_put_strided. */
enum tw_put_flags { TW_COPY = 0, TW_DEFERRED = 1 };

/**
 * As tw_put, for an array of any strides.
 * @param data         its first element
 * @param rank         number of array dimensions: those of the decomposition, or one more (the
 *                     slowest) that counts the boxes
 * @param extent       [rank] lengths in memory, exactly those of one of these forms: the box, or
 *                     the box with its halo; where there are several boxes, along each dimension
 *                     the largest of them; where tw_pad was called, what it told, with or without
 *                     the halo. A replicated variable: its own. All ranks give the same form (but
 *                     for those that hold nothing): where they do not, the tw_end_step, tw_sync or
 *                     tw_close that would write it, and tw_get, return TW_EMISMATCH.
 * @param byte_stride  [rank] distance of neighbours in bytes, negative allowed
 * @param flags        TW_COPY or TW_DEFERRED
 */
int tw_put_strided(tw_file file, const char* var, tw_type type, const void* data, int rank,
                   const int64_t* extent, const int64_t* byte_stride, int flags);

/**
 * Puts this rank's part of any record of a variable, held as any decomposition says: what tw_get
 * reads, written. The variable may have been defined without a decomposition, or with another one;
 * records may come in any order, several in one step, and again. What was put becomes part of the
 * file at the next tw_end_step, tw_sync or tw_close:
 *   - Of a record that the file has, what no rank puts stays as it is. A record that is written
 *     again is written in place: a job that is killed meanwhile may leave parts of both.
 *   - New records are filled where nothing was put, and so are the records before them that the
 *     file lacks. The file's records are counted when all of them are complete.
 *   - Where a rank puts an element twice, the later value stands; where two ranks do in one step,
 *     one of them.
 * tw_put and tw_end_step go on as before: the n-th step is record n. In a file that has boxes or
 * tw_put_record, a step in which no rank calls tw_put adds no record. In one step a rank writes a
 * variable's record by tw_put or by the other calls, not both.
 * @param decomposition  over the names of the variable's dimensions without the record dimension,
 *                       in any order; NULL: the whole, of which rank 0's values are written
 * @param record         0-based; ignored for a variable without record dimension
 * @param data           as for tw_put; free for reuse when the call returns
 * @param n              number of elements at data, halos included; checked
 * @return TW_OK, TW_ENOTFOUND, TW_ETYPE, TW_EARG, TW_ESHAPE, TW_EBOUNDS (record < 0), TW_EOVERLAP
 *         (TW_LIST_SHARED), TW_ERANGE (some values did not fit the variable's type), TW_EFORMAT (a
 *         record that the format cannot count), TW_ESTATE (the variable's record was put by tw_put
 *         in this step; storage pnetcdf; netCDF-4 with filters or given chunks), TW_ENOMEM (with
 *         service inline what a rank puts in a step is kept until the step ends, at most `staging`
 *         bytes; with background on several nodes, at most `queue`), TW_EHANDLE (a decomposition
 *         of another session), or an earlier failure of the file
 * Local, but for the first call in define mode, which is collective (see tw_enddef).
 */
int tw_put_record(tw_file file, const char* var, tw_decomposition decomposition, int64_t record,
                  tw_type type, const void* data, int64_t n);

/** tw_put_record for an array of any strides; see tw_put_strided. */
int tw_put_record_strided(tw_file file, const char* var, tw_decomposition decomposition,
                          int64_t record, tw_type type, const void* data, int rank,
                          const int64_t* extent, const int64_t* byte_stride);

/**
 * Puts a box of a variable, whatever its decomposition: for programs that do not know beforehand
 * what a rank will write. Records and steps are as with tw_put_record. A rank that puts boxes, or
 * one of count 0, before its first tw_end_step may, with service servers or with background on one
 * node, end steps as often as it likes.
 * @param start, count  of all dimensions of the variable, the record dimension included, slowest
 *                      first; a count of 0 puts nothing
 * @param data          dense, of the given type; free for reuse when the call returns
 * @return as tw_put_record; TW_EBOUNDS: the box is not within the variable
 * Local, but for the first call in define mode.
 */
int tw_put_box(tw_file file, const char* var, tw_type type, const int64_t* start,
               const int64_t* count, const void* data);

/**
 * Writes what was put and ends the current record; the next put belongs to the next record.
 * Record variables that no rank has put are filled with their fill value.
 * With service background or servers it hands the step over and returns; what becomes of it is told
 * by later calls on the file, and to all ranks alike by tw_sync, tw_close and tw_finalize.
 * @return TW_OK; TW_EMISSING if a variable was put on some ranks only, TW_EMISMATCH if with its
 *         halo on some and without on others, TW_EARG if an array that was deferred is not what it
 *         was (the step stays open; with a service these are failures of the file); TW_ERANGE if
 *         values did not fit the variable's type (they are filled, unlike netCDF-C, which leaves
 *         the outcome open); TW_EIO; with a service also an earlier step's failure, on the ranks
 *         that have learnt of it; see docs/services.md
 * @note Collective
 */
int tw_end_step(tw_file file);

/** Makes all ended records readable to others, and with durable != 0 safe from a power loss
 *  (fsync). From then on the file can be inquired and read through this handle, too. Of a file open
 *  for reading: looks for records that were added. @note Collective */
int tw_sync(tw_file file, int durable);

/**
 * Writes what is left, completes the file and gives it its name. The handle is set to NULL; a copy
 * of it is answered with TW_ECLOSED until tw_finalize.
 *
 * With close=later, and service background or servers, it hands the file over and returns. The file
 * gets its name at the first tw_create, tw_open, tw_close or tw_wait of the session that finds it
 * written. tw_create, tw_open and the calls of restarts with its path complete it first, and so
 * does tw_finalize; a failure is returned there, or by tw_wait, on all ranks: once, and then the
 * call has done nothing else, but for tw_finalize. Values that do not fit (TW_ERANGE) are told at
 * once.
 * @return TW_OK, TW_ERANGE, TW_EIO, TW_EMISMATCH, TW_EMISSING, TW_ENOMEM, TW_ECLOSED, or an earlier
 *         failure of the file
 * @note Collective
 */
int tw_close(tw_file* file);

/** What tw_recover does where the file's own name has more records than it found. */
enum tw_recovery {
    TW_KEEP_LONGER = 0,   /**< nothing: TW_EEXISTS */
    TW_REPLACE_LONGER = 1 /**< replaces it */
};

/**
 * Waits for files that were closed with close=later, the oldest first.
 * @param most  files that may be left incomplete: 0 waits for all; a large number waits for none,
 *              and gives those that are written their names
 * @return TW_OK; the first failure of a file that was completed since the last call that told one;
 *         TW_EARG (most < 0); TW_EMISMATCH (the ranks ask for different numbers)
 * @note Collective
 */
int tw_wait(tw_session session, int64_t most);

/**
 * Completes the file that a killed run left under its temporary name: what was committed stays,
 * what was not is cut off, and the file gets its own name. A file of that name is replaced, unless
 * it has more records. See docs/recovery.md.
 * @param path    the file's own name or its temporary one, PATH.part or PATH.part.N; what is there
 *                under its own name alone (publish=live) is completed in place, if it is not
 *                complete already
 * @param longer  enum tw_recovery
 * @param text    NULL, or receives what was done or why it failed
 * @param length  of text, its end included
 * @return TW_OK; TW_ENOTFOUND if there is no such file; TW_EFORMAT if it cannot be read whole: the
 *         run was killed before the definitions were in the file; TW_EEXISTS if the file's own name
 *         has more records; TW_EINUSE if a run is still writing it; TW_EIO; TW_EARG; TW_ENOMEM.
 *         After any of these nothing is changed
 * Local: one process calls it, without a session and without MPI.
 */
int tw_recover(const char* path, int longer, char* text, int64_t length);

/* ---- files: reading ------------------------------------------------------------------------ */

/* A file that is being written can be read through its own handle, by all functions that follow but
 * tw_open and tw_prefetch. It shows what the last tw_sync has made readable: the records that had
 * ended, and the fixed-size variables that had been put whole; what was put later is not seen
 * before the next tw_sync, but for elements that were written over. Before the first tw_sync:
 * TW_ESTATE; the same for a fixed-size variable that was not written. tw_get_deferred finds out
 * less than with a file that was opened to be read: the rest is told by tw_read. TW_EUNSUPPORTED:
 * sets of files (tile_files) and storage memory. See docs/reading.md. */

/**
 * Opens an existing netCDF file, whoever made it, for reading, or with mode=append to write on in
 * it. It may be of a classic format (CDF-1, CDF-2, CDF-5) or, for reading, netCDF-4 (the root
 * group). Where there is none of that name but path.0000, the set of tiles of which that is the
 * first is read as if it were one file. Rank 0 reads and checks the header and tells the others.
 *
 * With mode=append, the model defines the file's variables as for tw_create, in any order. When the
 * definitions end they are compared with the file's: TW_EDIFFERENT, and the file stays as it is, if
 * variables are missing on either side or differ in type or dimensions. Then steps add records, or
 * replace them (tw_set_record); what is put of fixed-size variables replaces what is there; and
 * attributes that the file lacks, or has otherwise, are set by tw_close. The file keeps its name;
 * it is written in place. See docs/appending.md.
 * @param settings  NULL or "name=value; ..." for this file alone: mode; readers, straight,
 *                  piece, read_ahead, staging, bandwidth; with mode=append all that concerns who
 *                  writes, and when
 * @return TW_OK, TW_EARG, TW_ESETTING, TW_EIO (with the system's words; also: a tile is missing),
 *         TW_EFORMAT (no netCDF file, one whose header contradicts itself, or tiles that do not
 *         belong together), TW_EMISMATCH (different paths), TW_EINUSE (a netCDF-4 file that
 *         another program has locked, as it is writing it). With mode=append also TW_EUNSUPPORTED
 *         (netCDF-4, tiles), TW_EINUSE (open in this session, or another session or run is writing
 *         it), TW_EIO (not writable, or cut off), TW_ESETTING (another format, or files of tiles)
 * @note Collective
 */
int tw_open(tw_session session, const char* path, const char* settings, tw_file* file);

/* Inquiry. Local; the same on every rank. Entries are counted from 0 in the order of the file;
 * every pointer to receive something may be NULL; names belong to the file and live until tw_close.
 * Of a file that is being written they tell the definitions, with the attributes and records that
 * it had at the last tw_sync; before the first one, with mode=append, what was in it when it was
 * opened.
 * Errors: TW_ENOTFOUND, TW_EBOUNDS (no such entry), TW_EARG, TW_ESTATE (a new file, before the
 * first tw_sync), TW_ECLOSED. */

/** The file: its format ("cdf1", "cdf2", "cdf5", "netcdf4", "netcdf4-classic"), how many
 * dimensions, variables and global attributes it has, and how many records. */
int tw_inq(tw_file file, const char** format, int* ndims, int* nvars, int* natts, int64_t* records);

/** Length of a dimension; of the record dimension: the number of records. */
int tw_inq_dim(tw_file file, const char* name, int64_t* length);

/** Name of a dimension by its number. */
int tw_inq_dim_name(tw_file file, int index, const char** name);

/** Name of the record dimension, "" if there is none. Of several dimensions without a fixed length
 *  (netCDF-4) it is the first; the others have the length that they had when the file was opened.
 */
int tw_inq_unlimited(tw_file file, const char** name);

/** Name of a variable by its number. */
int tw_inq_var_name(tw_file file, int index, const char** name);

/** Type, number of dimensions (the record dimension included) and of attributes of a variable. The
 *  type is 0 for strings and user-defined types (netCDF-4), which cannot be read. */
int tw_inq_var(tw_file file, const char* var, tw_type* type, int* ndims, int* natts);

/** Name and length of a variable's dimension: index 0 is the slowest. */
int tw_inq_var_dim(tw_file file, const char* var, int index, const char** name, int64_t* length);

/** Name of an attribute by its number; var NULL or "" for a global one. */
int tw_inq_att_name(tw_file file, const char* var, int index, const char** name);

/** Type and number of values of an attribute; of a text, its characters. A single string
 *  (netCDF-4) is a text; of other strings and of user-defined types the type is 0. */
int tw_inq_att(tw_file file, const char* var, const char* name, tw_type* type, int64_t* n);

/**
 * Values of an attribute, converted to the given type as netCDF does.
 * @param n  number of values at `values`: as many as tw_inq_att tells
 * @return also TW_ETYPE (text and numbers), TW_ESHAPE (another n), TW_ERANGE (some values do not
 *         fit; they become the type's fill value, the others are there), TW_EUNSUPPORTED (its type
 *         is 0)
 */
int tw_get_att(tw_file file, const char* var, const char* name, tw_type type, int64_t n,
               void* values);

/** A text attribute, with a zero byte at its end: `size` is one more than tw_inq_att tells, or
 *  larger. Returns also TW_ETYPE, TW_ESHAPE (size too small). */
int tw_get_att_text(tw_file file, const char* var, const char* name, int64_t size, char* text);

/**
 * Reads this rank's part of a variable, whatever the order of its dimensions in the file.
 * @param decomposition  who wants what, over the names of the variable's dimensions without the
 *                       record dimension, in any order; NULL: every rank wants the whole
 * @param record         0-based record, ignored for a variable without record dimension
 * @param type           type of the values in memory; numbers are converted as netCDF does
 * @param data           the boxes of the decomposition, with their halos, one after another;
 *                       halos are left as they are unless tw_fill_halo says otherwise
 * @param n              number of elements at data, halos included; checked
 * @return TW_OK, TW_ENOTFOUND, TW_ETYPE, TW_ESHAPE, TW_EARG, TW_EBOUNDS (no such record),
 *         TW_ERANGE (some values do not fit the type; they become its fill value, the others are
 *         there), TW_EIO (also: the file is cut off), TW_EMISMATCH (the ranks want different
 *         variables or records), TW_EFORMAT (netCDF-4: damaged data), TW_EUNSUPPORTED (more than 16
 *         dimensions; netCDF-4: type 0, another group, a filter that is not there). After another
 *         failure than TW_ERANGE the arrays may hold anything.
 * @note Collective
 */
int tw_get(tw_file file, const char* var, tw_decomposition decomposition, int64_t record,
           tw_type type, void* data, int64_t n);

/**
 * Reads a section of a variable, whatever its decomposition: for programs that do not know
 * beforehand what a rank will read. Every rank gives its own section; sections may overlap, be the
 * same, or be of different records.
 * @param start, count, stride  of all dimensions of the variable, the record dimension included,
 *                      slowest first: `count` elements from `start` on, every `stride`-th. stride
 *                      NULL: all 1. A count of 0 reads nothing, and start may then be the
 *                      dimension's length. Of a scalar all three may be NULL.
 * @param type          type of the values in memory; numbers are converted as netCDF does
 * @param data          receives the section, dense, in the order of the variable's dimensions: as
 *                      many elements as the product of count; may be NULL if there are none
 * @return TW_OK, TW_ENOTFOUND, TW_ETYPE, TW_EARG (a stride below 1; an array is missing),
 *         TW_EBOUNDS (the text names the dimension, the values and the rank), TW_ERANGE (some
 * values do not fit the type; they become its fill value, the others are there), TW_EMISMATCH (the
 *         ranks name different variables), TW_EIO, TW_EFORMAT, TW_EUNSUPPORTED: as of tw_get. After
 *         another failure than TW_ERANGE the arrays may hold anything.
 * @note Collective
 */
int tw_get_box(tw_file file, const char* var, tw_type type, const int64_t* start,
               const int64_t* count, const int64_t* stride, void* data);

/** Asks for what tw_get would read; the next tw_read reads it, together with all else that was
 *  asked for. The array belongs to the library until then; no two of them are the same. Every rank
 *  has to ask for the same variables, records and decompositions in the same order. Local. */
int tw_get_deferred(tw_file file, const char* var, tw_decomposition decomposition, int64_t record,
                    tw_type type, void* data, int64_t n);

/** tw_get, or with TW_DEFERRED tw_get_deferred, into an array of any strides; see tw_put_strided.
 *  Of an array without the decomposition's halo, no halo is filled. @note Collective, unless
 *  deferred */
int tw_get_strided(tw_file file, const char* var, tw_decomposition decomposition, int64_t record,
                   tw_type type, void* data, int rank, const int64_t* extent,
                   const int64_t* byte_stride, int flags);

/** Reads all that tw_get_deferred asked for, in one go through the file: the fastest way to read
 *  many variables. Afterwards nothing is asked for, whether it failed or not. Errors as of tw_get.
 *  @note Collective */
int tw_read(tw_file file);

/** Begins to read behind the caller, on threads of the readers, what tw_get_deferred has asked for
 *  so far; the arrays are filled by the next tw_read. Bounded by the setting `staging`: what goes
 *  beyond it is read by tw_read, which also reports failures of reading.
 *  @return TW_OK, TW_EMISMATCH (the ranks asked for different things), TW_ENOMEM
 *  @note Collective */
int tw_prefetch(tw_file file);

#ifdef __cplusplus
}
#endif

#include "thalweg/restart.h"

#endif
