// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Tests netCDF-4 files.
void appended_netcdf4();
/// Tests sets of tiles.
void appended_tiles();
