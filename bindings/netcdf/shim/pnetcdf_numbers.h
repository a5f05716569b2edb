/* An enumeration of PnetCDF's function names, made from the list that the build generates, for C
 * and C++.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THALWEG_PNETCDF_NUMBERS_H
#define THALWEG_PNETCDF_NUMBERS_H

enum pnetcdf_number {
#define NAME(name, ...) number_of_##name,
#include "pnetcdf_names.inc"
    number_of_names
};

#endif
