// thalweg doctor CMD: what a program that calls netCDF would load, and what of it would be taken.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace thalweg::app {

/// Tests if words are programs, and not folders.
bool are_programs(const std::vector<std::string>& words);

/**
 * Prints for each program the netCDF, PnetCDF, HDF5 and MPI that it would load, the place of the
 * dispatch table in that netCDF, and which of its files would be taken, or why none. Runs no
 * program.
 * @return exit code: 0 files are taken, 1 some program's are not
 */
int examine_programs(const std::vector<std::string>& commands);

}  // namespace thalweg::app
