// thalweg run: runs a program with settings of the library and tells what it wrote.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace thalweg::app {

struct RunOptions {
    std::string service;  ///< value of the setting; empty: the program's own choice
    bool report = false;  ///< write a report, thalweg-report.html
    std::string netcdf;   ///< value of THALWEG_NETCDF; empty: the default
    std::string pnetcdf;  ///< value of THALWEG_PNETCDF; empty: the default
    std::string serial;   ///< "yes" or "no": whether files without a communicator are taken; empty:
                          ///< the default
    std::string only, skip;  ///< values of THALWEG_ONLY and THALWEG_SKIP
    std::string tell;        ///< value of THALWEG_TELL
    bool live = false;       ///< files have their names while they are written
    /// Words NAME=VALUE, which are settings, and the command after them.
    std::vector<std::string> command;
};

/**
 * Runs a command with settings in its environment and with the library that takes the calls
 * of netCDF and PnetCDF preloaded, waits for it, and prints one line on standard error: bytes,
 * files, seconds in calls, seconds hidden, what was chosen. A rank that a launcher has started
 * becomes the command.
 * @return exit code of the command; 128 and the number of the signal that ended it; 2 if it cannot
 *         be started
 */
int run(RunOptions options);

/// Returns the line about a run. @param json  the summary of its session
/// @return "" if the text is no summary
std::string run_line(const std::string& json);

}  // namespace thalweg::app
