/* Thalweg: arrays in memory, for the functions whose names end in _array.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A part of thalweg.h, which states the conventions.
 */
#ifndef THALWEG_ARRAY_H
#define THALWEG_ARRAY_H

#include <stddef.h>

#include "thalweg/base.h"

/** Number of dimensions that marks a tw_array as dense: its elements follow one another. */
#define TW_DENSE (-2)

/**
 * An array in memory, dense or of any strides. The functions tw_dense and tw_strided make it. Only
 * the reading functions write to data.
 *
 * A dense array has the boxes of the decomposition, with their halos, one after another, or all of
 * a replicated variable; n, which is checked, counts halos and padding (see tw_pad) as well. A rank
 * that holds nothing may pass an array of any size.
 *
 * A strided array has as many dimensions as the decomposition, or one more (the slowest), which
 * counts the boxes. Its extents are those of the box, with or without the halo; of several boxes,
 * the largest along each dimension; after tw_pad, the extent set there; of a replicated variable,
 * its shape. All ranks (except those that hold nothing) must agree on whether the halo is included;
 * otherwise the tw_end_step, tw_sync or tw_close that would write it, or tw_get_array, returns
 * TW_EMISMATCH.
 */
typedef struct tw_array {
    tw_type type;               /**< type of the values in memory */
    int rank;                   /**< number of dimensions, or TW_DENSE */
    const void* data;           /**< address of the first element */
    int64_t n;                  /**< number of elements, if the array is dense */
    const int64_t* extent;      /**< [rank] lengths in memory, in elements */
    const int64_t* byte_stride; /**< [rank] bytes from one element to the next along each dimension;
                                     may be negative */
} tw_array;

/** Flag of the functions whose names end in _array: the array stays in use after the call. */
#define TW_DEFERRED 16

/** Describes a dense array of n elements. Local; any thread may call it. */
static inline tw_array tw_dense(tw_type type, const void* data, int64_t n) {
    const tw_array array = {type, TW_DENSE, data, n, NULL, NULL};
    return array;
}

/** Describes an array with any strides; extent and byte_stride, [rank] each, are not copied and
 * must be valid until the call that takes the array returns. Local; any thread may call it. */
static inline tw_array tw_strided(tw_type type, const void* data, int rank, const int64_t* extent,
                                  const int64_t* byte_stride) {
    const tw_array array = {type, rank, data, 0, extent, byte_stride};
    return array;
}

#endif
