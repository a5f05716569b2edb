// Completes the files that a killed run has left.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/status.hpp"

namespace thalweg::detail {

/**
 * Implements tw_recover. Needs no MPI.
 * @param path   final or temporary path of the file
 * @param force  replace a file even if it has more records
 * @param done   receives a description of the repairs, for the user
 */
Status recover(const std::string& path, bool force, std::string& done);

}  // namespace thalweg::detail
