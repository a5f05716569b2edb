// thalweg run: runs a program with settings of the library and tells what it wrote.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace thalweg::app {

struct RunOptions {
    std::string service;  ///< value of the setting; empty: the program decides
    bool report = false;  ///< write a report, thalweg-report.html
    std::vector<std::string> command;
};

/**
 * Runs a command with settings in its environment, waits for it, and prints one line on standard
 * error: bytes, files, seconds in calls, seconds hidden, what was chosen.
 * @return exit code of the command; 128 and the number of the signal that ended it; 2 if it cannot
 *         be started, or if a launcher has started this process
 */
int run(const RunOptions& options);

/// Returns the line about a run. @param json  the summary of its session
/// @return "" if the text is no summary
std::string run_line(const std::string& json);

}  // namespace thalweg::app
