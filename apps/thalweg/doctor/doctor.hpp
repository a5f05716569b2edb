// thalweg doctor: checks that a machine has what the library needs, and says what to type if not.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace thalweg::app {

struct DoctorOptions {
    std::vector<std::string> folders{"."};  ///< folders in which files will be written
};

/**
 * Checks libraries, processors, memory, folders and settings. Rank 0 prints a line for each fact;
 * if something is wrong, it also prints the command that mends it.
 * @return exit code, the same on every rank: 0 nothing is wrong, 1 there are problems
 * @note Collective over MPI_COMM_WORLD
 */
int doctor(const DoctorOptions& options);

}  // namespace thalweg::app
