/* Calls that create or open a file.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THALWEG_NAMES_H
#define THALWEG_NAMES_H

#include "real.h"

/* Error codes of netCDF. */
enum { netcdf_not_built = -128, netcdf_no_parallel = -114, netcdf_bad_type = -45 };

/* Offers a call to the front. Returns 1 if the front takes it; `code` then receives its result. */
int offer(struct library* library, struct thalweg_call call, const char* path, int* id, int* code);

#endif
