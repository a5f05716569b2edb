// Executable files: what they are linked with.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace thalweg::app {

/// An executable file for this kind of machine.
struct Program {
    bool readable = false;  ///< the file is executable and could be read
    bool dynamic = false;   ///< a loader starts the program, and can preload libraries
    std::vector<std::string>
        defined;  ///< names, among those asked for, that the file itself defines
};

/// Reads an executable file. @param names  names of functions to look for
Program read_program(const std::string& path, const std::vector<std::string>& names);

/// Returns the path of a command, which is found as a shell would find it; empty if there is none.
std::string find_program(const std::string& command);

/// Returns the path of the shim library, which takes the netCDF calls of unchanged programs; empty
/// if this installation has none.
std::string find_shim();

/// Returns a line for each program in a command that the shim cannot reach because it is static or
/// contains netCDF itself.
std::vector<std::string> find_unreachable(const std::vector<std::string>& command);

}  // namespace thalweg::app
