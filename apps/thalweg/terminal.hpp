// Tests if people see the output of a command while it runs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace thalweg::app {

/// Tests if a standard stream leads to a terminal, directly or through the launcher of MPI that
/// started this process. Some launchers give their ranks a terminal whose output goes to a log.
/// @param stream  STDOUT_FILENO or STDERR_FILENO
bool on_terminal(int stream);

}  // namespace thalweg::app
