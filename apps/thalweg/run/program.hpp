// Executable files: what they are linked with.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace thalweg::app {

/// An executable file of this machine's kind.
struct Program {
    bool readable = false;  ///< the file is one, and could be read
    bool dynamic = false;   ///< a loader starts it, which can preload libraries
    std::vector<std::string>
        defined;  ///< names, among those asked for, that the file itself defines
};

/// Reads an executable file. @param names  functions to look for
Program read_program(const std::string& path, const std::vector<std::string>& names);

/// Returns the path of a command, found as a shell finds it; empty if there is none.
std::string find_program(const std::string& command);

/// Returns the path of the library that takes netCDF's calls of unchanged programs; empty if this
/// installation has none.
std::string find_shim();

/// Returns a line for each program of a command that the library cannot reach: static ones, and
/// those that have netCDF inside.
std::vector<std::string> find_unreachable(const std::vector<std::string>& command);

}  // namespace thalweg::app
