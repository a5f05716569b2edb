// thalweg show: prints the contents of a file, its state of writing, and its values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace thalweg::app {

struct ShowOptions {
    std::string path;
    bool json = false;
    bool statistics = false;
    std::string plotted;  ///< name of the variable to plot; empty: none

    bool reads_values() const { return statistics || !plotted.empty(); }
};

/// Prints the facts about a file, but none of its values. Needs no MPI.
/// @return exit code: 1 after an error
int show(const ShowOptions& options);

/// Prints facts and values.
/// @return exit code, the same on every rank; 1 after an error
/// @note Collective over MPI_COMM_WORLD
int show_values(const ShowOptions& options);

}  // namespace thalweg::app
