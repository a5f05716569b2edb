/* Thalweg: puts of one rank alone, and of borrowed and packed arrays, for interfaces such as
 * netCDF's.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * thalweg.h, which states the conventions, does not include it.
 */
#ifndef THALWEG_ALONE_H
#define THALWEG_ALONE_H

#include "thalweg/thalweg.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Flag of tw_put_record_array: as TW_DEFERRED, for arrays that several puts may share. The library
 *  does not check that they stay unchanged. */
#define TW_BORROWED 32

/** Flag of tw_put_record_array and tw_put_box_as: the values are dense in the order of the file, of
 *  the variable's type and in the byte order of the file, and stay unchanged until they are
 *  written. */
#define TW_PACKED 64

/**
 * Flag of tw_put_box_as: writes a section of a fixed-size variable at once, without the other ranks
 * and without a copy of the whole section. It works in a new classic file with service inline and
 * storage posix, and for variables without chunks in a new netCDF-4 file without filters, without
 * checksums, in one file, if the variable has the setting fill=none and this rank has no other put
 * of it waiting for the end of the step. The variable's elements that no rank writes remain a hole.
 * The order of this write and of other ranks' puts of the same elements is not defined until the
 * next collective call.
 */
#define TW_ALONE 128

/**
 * Puts a section as tw_put_box does.
 * @param flags  sum of flags, or 0
 * @return as tw_put_box; TW_EUNSUPPORTED: with TW_ALONE, nothing was written, put it without
 * @note Local, except the first call in define mode (see tw_enddef)
 */
tw_status tw_put_box_as(tw_file file, const char* var, tw_type type, const int64_t* start,
                        const int64_t* count, const int64_t* stride, const void* data, int flags);

#ifdef __cplusplus
}
#endif
#endif
