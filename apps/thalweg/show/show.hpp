// thalweg show: what a file holds, how far it is written, and what its values are.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace thalweg::app {

struct ShowOptions {
    std::string path;
    bool json = false;
    bool statistics = false;
    std::string plotted;  ///< variable; empty: none

    bool reads_values() const { return statistics || !plotted.empty(); }
};

/// Prints what is found without reading values. Needs no MPI. @return exit code, 1 after an error
int show(const ShowOptions& options);

/// Reads values, too. @return exit code, the same on every rank; 1 after an error
/// @note Collective over MPI_COMM_WORLD
int show_values(const ShowOptions& options);

}  // namespace thalweg::app
