// Memory that the system could still give to this process, as far as it reports it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace thalweg::detail {

struct FreeMemory {
    std::int64_t bytes = INT64_MAX;  ///< free on the machine or in the process's container
    /// Tests if granted memory may turn out to be missing on first use (vm.overcommit_memory=2
    /// counts shared memory only then).
    bool strict = false;
};

/// @param root  root folder of the file system; tests use their own
FreeMemory free_memory(const std::string& root = "");

}  // namespace thalweg::detail
