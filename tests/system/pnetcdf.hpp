// The setting `storage` for blocking calls of PnetCDF; posix if this build lacks PnetCDF.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#if THALWEG_TEST_PNETCDF
#define PNETCDF_BLOCKING "pnetcdf-blocking"
#else
#define PNETCDF_BLOCKING PNETCDF
#endif
