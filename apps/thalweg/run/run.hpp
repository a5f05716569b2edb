// thalweg run: runs a program with settings of the library, and prints what it has written.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace thalweg::app {

struct RunOptions {
    std::string service;  ///< value of the setting "service"; empty: the program's choice
    bool report = false;  ///< write a report to thalweg-report.html
    std::string netcdf;   ///< value of THALWEG_NETCDF; empty: the default
    std::string pnetcdf;  ///< value of THALWEG_PNETCDF; empty: the default
    /// "yes" or "no": take files that are opened without a communicator; empty: the default.
    std::string serial;
    std::string only, skip;  ///< values of THALWEG_ONLY and THALWEG_SKIP
    std::string tell;        ///< value of THALWEG_TELL
    bool live = false;       ///< files have their final names while they are written
    /// Words of the form NAME=VALUE, which are settings, followed by the command.
    std::vector<std::string> command;
};

/**
 * Runs a command with settings in its environment, and with the shim preloaded that takes the calls
 * of netCDF and PnetCDF. Waits for the command, and prints one line on standard error: bytes,
 * files, seconds in calls, seconds hidden, and what was chosen. In a rank that a launcher has
 * started, the command replaces this process.
 * Signals that this process gets are passed on to the command. If one of them ends it, it ends this
 * process, too.
 * @return exit code of the command; 128 and the number of another signal that ended it; 2 if it
 *     cannot be started
 */
int run(RunOptions options);

/// Returns the line about a run.
/// @param json summary of the run's session
/// @return the line; "" if the text is not a summary
std::string run_line(const std::string& json);

}  // namespace thalweg::app
