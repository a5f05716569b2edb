// Completing what a killed run left behind.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "comm/status.hpp"

namespace thalweg {

/**
 * See tw_recover. Needs no MPI.
 * @param path  the file's own name, or its temporary one
 * @param done  receives what was done
 */
Status recover(const std::string& path, std::string& done);

}  // namespace thalweg
