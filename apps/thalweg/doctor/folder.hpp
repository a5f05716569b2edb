// A folder for files: its file system, locks, stripes and room.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "doctor/findings.hpp"

namespace thalweg::app {

/// Adds findings about a folder in which files will be written. Creates a small file there, and
/// removes it.
/// @param nodes  number of nodes of the job
void check_folder(const std::string& folder, int nodes, Diagnoses& found);

/// Adds a finding about the free space in /dev/shm.
void check_shared_memory(Diagnoses& found);

}  // namespace thalweg::app
