// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace thalweg::app {

struct HistoryOptions {
    std::string config;  ///< path of the configuration to check
    std::string run;     ///< path of the description of the run; empty: none
    std::string from;    ///< path of another model's configuration to convert; empty: none
    /// Calendar and first date, if no run is described.
    std::string calendar = "proleptic_gregorian", start = "2000-01-01";
};

/// Checks a configuration, and estimates what it writes in a run; or converts another model's
/// configuration.
/// @return exit status: 1 if there are problems
int check_history(const HistoryOptions& options);

}  // namespace thalweg::app
