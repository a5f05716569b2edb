/* Thalweg: decompositions: the elements of an index space that each rank holds.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A part of thalweg.h, which states the conventions.
 */
#ifndef THALWEG_DECOMPOSITION_H
#define THALWEG_DECOMPOSITION_H

#include "thalweg/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Declares which elements of an index space this rank holds, as any number of boxes. In memory a
 * box is dense, and the boxes follow one another; if they are parts of larger arrays, see tw_pad.
 *
 * A variable and its decomposition are matched by the names of their dimensions, in any order. A
 * name may occur twice, with the same length ("n n", a covariance): its first occurrence matches
 * the first dimension of that name in the variable, the second one the second. With an asterisk in
 * place of every name ("* *", two dimensions) they are matched by position: the variable's
 * dimensions, without the record dimension, must have the same lengths in the same order, whatever
 * their names.
 * @param dims        names of the dimensions in the order of the array in memory, slowest first; or
 *                    an asterisk for each of them
 * @param nblocks     number of boxes on this rank, 0 or more; may differ between ranks
 * @param shape       [ndims] global lengths, the same on every rank
 * @param start       [nblocks * ndims] first global index of each box
 * @param count       [nblocks * ndims] lengths of each box
 * @param decomposition  receives the handle, which belongs to the session
 * @return TW_OK, TW_EARG (also: some dimensions have names and others an asterisk), TW_ESHAPE,
 *         TW_EBOUNDS, TW_EOVERLAP (an element is in two boxes), TW_EMISMATCH (names or shape differ
 *         between ranks), TW_ENOMEM
 * @note Collective
 */
tw_status tw_decompose(tw_session session, const char* dims, int nblocks, const int64_t* shape,
                       const int64_t* start, const int64_t* count, tw_decomposition* decomposition);

/**
 * Declares boxes as tw_decompose does, for arrays with a halo: in memory every box has halo_low[d]
 * extra elements before it and halo_high[d] after it along dimension d. They are never written.
 * @param halo_low, halo_high  [ndims], in elements; NULL for none
 * @return as tw_decompose; TW_EARG: a negative halo
 * @note Collective
 */
tw_status tw_decompose_halo(tw_session session, const char* dims, int nblocks, const int64_t* shape,
                            const int64_t* start, const int64_t* count, const int64_t* halo_low,
                            const int64_t* halo_high, tw_decomposition* decomposition);

/** Number of times that an index may occur in the lists of tw_decompose_list. */
enum tw_list_kind TW_ENUM {
    TW_LIST_UNIQUE = 0, /**< at most once on all ranks together: for writing and reading */
    TW_LIST_SHARED = 1  /**< more than once, on any ranks: for reading only */
};
typedef enum tw_list_kind tw_list_kind;

/**
 * Declares which elements of an index space this rank holds, as a list of global indices in any
 * order: columns of an unstructured mesh, land points. The list covers some of the dimensions; of
 * the others, every rank holds the full length. In memory the listed dimensions are a single one of
 * length n, in the same position: an array has n elements times the lengths of the other
 * dimensions, and a strided array (see tw_array) has that number of dimensions. Elements that
 * are in no rank's list get the fill value.
 * @param dims     names of all dimensions in the order of the array in memory, slowest first; or
 *                 an asterisk for each of them, as for tw_decompose
 * @param shape    [ndims] global lengths, the same on every rank
 * @param listed   names of the dimensions that the list covers: one or more that are adjacent in
 *                 dims, in the same order; if dims has asterisks, the same text: the list then
 *                 covers all dimensions
 * @param n        length of this rank's list, 0 or more
 * @param indices  [n] global index of each position of the list, from 0, row-major over the listed
 *                 dimensions; -1 marks a hole: the position exists in memory but not in the file.
 *                 Holes are not written, and reads leave them unchanged. The array can be reused
 *                 when the call returns.
 * @param kind     the same on every rank
 * @param decomposition  receives the handle, which belongs to the session
 * @return TW_OK, TW_EARG, TW_EEXISTS (a dimension named twice), TW_ESHAPE, TW_EBOUNDS (an index
 * outside the shape), TW_EOVERLAP (an index occurs twice, on one rank or on two; not with
 * TW_LIST_SHARED), TW_EMISMATCH (names, shape or kind differ between ranks), TW_ENOMEM
 * @note Collective
 */
tw_status tw_decompose_list(tw_session session, const char* dims, const int64_t* shape,
                            const char* listed, int64_t n, const int64_t* indices,
                            tw_list_kind kind, tw_decomposition* decomposition);

/** Ways in which reads treat the halo along a dimension. */
enum tw_edge TW_ENUM {
    TW_HALO_KEEP = 0,    /**< leave it unchanged: the default */
    TW_HALO_CLIP = 1,    /**< read the part within the global shape; leave the rest unchanged */
    TW_HALO_PERIODIC = 2 /**< read it with periodic indices: after the last one follows the first */
};
typedef enum tw_edge tw_edge;

/**
 * Sets how later reads treat the halos of a decomposition's arrays, including the corners. Halos
 * are never written.
 * @param edges  [ndims] one for each dimension, in the decomposition's order
 * @return TW_OK, TW_EARG (an unknown edge; a list), TW_EMISMATCH (the edges differ between ranks),
 *         TW_EHANDLE
 * @note Collective
 */
tw_status tw_fill_halo(tw_decomposition decomposition, const tw_edge* edges);

/**
 * Declares that the boxes of a decomposition are parts of larger arrays, all of the same extent, as
 * in models that divide their grid into blocks: in an array (max_blocks, ny_block, nx_block), some
 * blocks are smaller than the others, and some are not used. In memory each box begins after
 * halo_low elements along each dimension; the elements after it and its halo are padding, which is
 * never written. This applies to the variables defined, reads called and restarts written from now
 * on. They take arrays of
 *   - boxes x extent elements, or extent elements for each box that this rank has;
 *   - if strided (see tw_array), also without the halo: extent - halo_low - halo_high along each
 *     dimension.
 * A warning is logged if the extent along some dimension is larger than every box with its halo,
 * because an undeclared halo would be written as part of the box.
 * @param extent  [ndims] length of the array of one box along each dimension, halo included; the
 *                same on every rank, and at least that of every box with its halo
 * @param boxes   number of boxes that this rank's arrays have room for; at least this rank's number
 *                of boxes
 * @return TW_OK, TW_EARG (a list), TW_ESHAPE (a box does not fit), TW_EMISMATCH (the extents differ
 *         between ranks), TW_EHANDLE
 * @note Collective
 */
tw_status tw_pad(tw_decomposition decomposition, const int64_t* extent, int64_t boxes);

/**
 * Properties of a decomposition, as tw_inq_decomposition returns them. Dimensions are in the order
 * of the array in memory, slowest first.
 */
typedef struct tw_decomposition_info {
    const char* dims;         /**< names, separated by blanks; a blank or a backslash in a name is
                                   escaped with a backslash. Asterisks if matched by position */
    int ndims;                /**< number of dimensions */
    int nblocks;              /**< number of this rank's boxes; 0 for a list */
    const int64_t* shape;     /**< [ndims] global lengths */
    const int64_t* start;     /**< [nblocks * ndims] first global index of each box */
    const int64_t* count;     /**< [nblocks * ndims] lengths of each box */
    const int64_t* halo_low;  /**< [ndims] elements before each box */
    const int64_t* halo_high; /**< [ndims] elements after each box */
    const int64_t* extent;    /**< [ndims] as set by tw_pad, or NULL */
    int64_t boxes;            /**< as set by tw_pad, or 0 */
    int first_listed;         /**< the first dimension that the list covers; 0 for boxes */
    int nlisted;              /**< number of dimensions that the list covers; 0 for boxes */
    int64_t n;                /**< length of this rank's list, holes included; 0 for boxes */
    const int64_t* indices;   /**< [n] as for tw_decompose_list */
    tw_list_kind kind;        /**< TW_LIST_UNIQUE for boxes */
    int64_t held;             /**< elements that this rank holds: no halo, padding or hole */
    int64_t stored;           /**< elements of this rank's dense array, halos (and, after tw_pad,
                                   padding) included */
} tw_decomposition_info;

/**
 * Describes the part that this rank holds. Local.
 * @param info  receives texts and arrays that belong to the handle: valid until it is freed, or
 *              changed by tw_pad or tw_fill_halo. The description of a list takes 8 bytes an index
 * @return TW_OK, TW_EARG, TW_EHANDLE, TW_ENOMEM
 */
tw_status tw_inq_decomposition(tw_decomposition decomposition, tw_decomposition_info* info);

/**
 * Frees a decomposition and sets the handle to NULL. Variables, restarts and reads that use it keep
 * what they need. Calls with a copy of the handle return TW_EHANDLE until tw_finalize, which frees
 * all decompositions that are left. Local: ranks may free it at different times, or never.
 * @return TW_OK, TW_EHANDLE
 */
tw_status tw_free_decomposition(tw_decomposition* decomposition);

#ifdef __cplusplus
}
#endif

#endif
