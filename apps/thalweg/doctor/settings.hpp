// The settings of this environment, and the library's choices with them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "doctor/findings.hpp"

namespace thalweg::app {

/// Adds settings that differ from their defaults, and environment variables that are not settings.
/// @return false if the settings are not valid, so that no session can begin
/// @note Local
bool check_settings(Diagnoses& found);

/// Writes a small file to a folder, as a model would. Rank 0 adds the library's choices and their
/// reasons.
/// @note Collective over MPI_COMM_WORLD
void check_choices(const std::string& folder, Diagnoses& found);

}  // namespace thalweg::app
