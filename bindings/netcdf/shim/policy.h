/* Decides which files of a program the library takes over from netCDF.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THALWEG_POLICY_H
#define THALWEG_POLICY_H

#include "shim.h"

/* Values of the environment variable THALWEG_NETCDF. */
enum netcdf_choice { netcdf_off, netcdf_all, netcdf_forward, netcdf_parallel };

enum netcdf_choice netcdf_choice(void);

/* Values of the environment variable THALWEG_PNETCDF. */
enum pnetcdf_choice { pnetcdf_off, pnetcdf_forward, pnetcdf_on };

enum pnetcdf_choice pnetcdf_choice(void);

/* Tests if a call of PnetCDF must be offered to the front, given its path, its mode and the
 * settings. */
int takes_pnetcdf(const char* path, int mode);

/* Tests if a call must be offered to the front, given its path, its mode and the settings. The
 * result is the same on all ranks. */
int takes(const struct thalweg_call* call, const char* path);

/* Tests if this rank may print lines on standard error. */
int tells(void);

/* Prints a line on standard error, once for each reason, on rank 0. */
void tell_once(const char* reason, const char* detail);

#endif
