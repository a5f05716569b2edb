// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace thalweg::app {

struct PlanOptions {
    std::string description;
    std::string calibration;  ///< calibration file to use instead of the one in the description
    std::string picture;      ///< path of an SVG file to write; empty: none
    bool json = false;
};

/// Prints the cost of each method and service for the run that a file describes. Needs no MPI.
/// @return exit status
int plan(const PlanOptions& options);

}  // namespace thalweg::app
