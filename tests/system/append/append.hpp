// SPDX-License-Identifier: Apache-2.0
#ifndef THALWEG_TESTS_SYSTEM_APPEND_HPP
#define THALWEG_TESTS_SYSTEM_APPEND_HPP

/// Tests netCDF-4 files.
void appended_netcdf4();
/// Tests sets of tiles.
void appended_tiles();

#endif
