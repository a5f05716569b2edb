// SPDX-License-Identifier: Apache-2.0
#ifndef THALWEG_TESTS_SYSTEM_APPEND_HPP
#define THALWEG_TESTS_SYSTEM_APPEND_HPP

#include <string>

#include "thalweg/thalweg.h"

/// Tests files that cannot be continued, definitions that differ, and what other programs see while
/// a file is continued. Each error must have the same code and message on all ranks, and must not
/// change the file.
void appended_calls(tw_session session, const std::string& folder);

/// Tests netCDF-4 files, as a part of appended_calls().
void appended_netcdf4();
/// Tests sets of tiles.
void appended_tiles();

#endif
