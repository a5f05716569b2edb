/* Included first by programs that must be compiled with this project's pnetcdf.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <pnetcdf.h>
#ifndef PNETCDF_THALWEG
#error "this is another pnetcdf.h"
#endif
