// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace thalweg::app {

struct HistoryOptions {
    std::string config;  ///< configuration to check
    std::string run;     ///< description of the run that it is for; empty: none
    std::string from;    ///< for a check without a description of the run
    std::string calendar = "proleptic_gregorian", start = "2000-01-01";  ///< without a run
};

/// Checks a configuration, and estimates what it writes in a run; or converts one.
/// @return the exit status: 1 if there are problems
int check_history(const HistoryOptions& options);

}  // namespace thalweg::app
