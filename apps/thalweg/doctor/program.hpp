// thalweg doctor CMD: the libraries that a program would load, and the files that the shim would
// take.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace thalweg::app {

/// Tests if the words of a command line are programs instead of folders.
bool are_programs(const std::vector<std::string>& words);

/**
 * Prints for each program which netCDF, PnetCDF, HDF5 and MPI it would load, in which slot that
 * netCDF accepts a dispatch table, and which files of the program the shim would take, or why it
 * would take none. Runs no program.
 * @return exit code: 0 if the shim takes files of all programs, otherwise 1
 */
int examine_programs(const std::vector<std::string>& commands);

}  // namespace thalweg::app
