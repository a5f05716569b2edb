/* Calls that create or open a file.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THALWEG_NAMES_H
#define THALWEG_NAMES_H

#include "real.h"

/* Error codes of netCDF. */
enum {
    netcdf_not_built = -128,
    netcdf_no_parallel = -114,
    netcdf_bad_type = -45,
    netcdf_not_permitted = -37
};

/* Offers a call to the front. `code` receives the front's result. Returns 1 if this is final, 0 if
 * the library must get the call: the front does not take it, or cannot open the file, and the
 * library knows its own code for that. */
int offer(struct library* library, struct thalweg_call call, const char* path, int* id, int* code);

#endif
