/* Calls that create or open a file.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THALWEG_NAMES_H
#define THALWEG_NAMES_H

#include "real.h"

/* netCDF's codes. */
enum { netcdf_not_built = -128, netcdf_no_parallel = -114, netcdf_bad_type = -45 };

/* Offers a call to the front. Returns 1 if it is taken, and its result in `code`. */
int offer(struct library* library, struct thalweg_call call, const char* path, int* id, int* code);

#endif
