/* Calls that create or open a file.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THALWEG_NAMES_H
#define THALWEG_NAMES_H

#include "real.h"

/* Error codes of netCDF. */
enum { netcdf_not_built = -128, netcdf_no_parallel = -114, netcdf_bad_type = -45 };

/* Offers a call to the front. `code` receives its result. Returns 0 if the library must get the
 * call; for a call with a communicator, this is the same on all ranks. */
int offer(struct library* library, struct thalweg_call call, const char* path, int* id, int* code);

#endif
