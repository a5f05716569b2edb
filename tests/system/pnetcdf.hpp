// The setting `storage` for blocking calls of PnetCDF; posix if this build lacks PnetCDF.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef THALWEG_TESTS_SYSTEM_PNETCDF_HPP
#define THALWEG_TESTS_SYSTEM_PNETCDF_HPP

#if THALWEG_TEST_PNETCDF
#define PNETCDF_BLOCKING "pnetcdf-blocking"
#else
#define PNETCDF_BLOCKING PNETCDF
#endif

#endif
