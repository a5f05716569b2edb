// The libraries of this build and of this process.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "doctor/findings.hpp"

namespace thalweg::app {

/// Adds the versions of MPI, netCDF-C, HDF5 and PnetCDF, and features that the build lacks. MPI
/// must be running.
void check_libraries(Diagnoses& found);

}  // namespace thalweg::app
