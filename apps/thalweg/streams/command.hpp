// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace thalweg::app {

struct HistoryOptions {
    std::string config;   ///< path of the configuration to check
    std::string run;      ///< path of the description of the run; empty: none
    std::string from;     ///< path of another model's configuration to convert; empty: none
    std::string forget;   ///< name of a stream to remove from a restart; empty: none
    std::string restart;  ///< path of that restart
    bool keys = false;    ///< print all keys of configurations
    /// Calendar and first date, if no run is described.
    std::string calendar = "proleptic_gregorian", start = "2000-01-01";
};

/// Checks a configuration, and estimates what it writes in a run; or converts another model's
/// configuration; or prints all keys.
/// @return exit status: 1 if there are problems
int check_history(const HistoryOptions& options);

/// Removes a stream from the state of a history in a restart, so that it begins anew there, and
/// renames its files that are not complete.
/// @return exit status: 1 after an error @note Collective over MPI_COMM_WORLD
int forget_stream(const HistoryOptions& options);

}  // namespace thalweg::app
