// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace thalweg::app {

struct PlanOptions {
    std::string description;
    std::string calibration;  ///< instead of the one that the description names
    std::string picture;      ///< an SVG file to write; empty: none
    bool json = false;
};

/// Prints what each method and service would cost the run that a file describes. Needs no MPI.
/// @return the exit status
int plan(const PlanOptions& options);

}  // namespace thalweg::app
