// Completing what a killed run left behind.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/status.hpp"

namespace thalweg::detail {

/**
 * See tw_recover. Needs no MPI.
 * @param path   the file's own name, or its temporary one
 * @param force  replace a file that has more records, too
 * @param done   receives what was done
 */
Status recover(const std::string& path, bool force, std::string& done);

}  // namespace thalweg::detail
