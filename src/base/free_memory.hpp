// How much memory the system could still give to this process, as far as it tells.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace thalweg::detail {

struct FreeMemory {
    std::int64_t bytes = INT64_MAX;  ///< of the machine, or of the process's group (a container)
    /// Whether memory that was granted may still turn out not to be there when it is first used
    /// (vm.overcommit_memory=2 counts shared memory only then).
    bool strict = false;
};

/// @param root  of the file system; tests have their own
FreeMemory free_memory(const std::string& root = "");

}  // namespace thalweg::detail
