// Memory that the system could still give to this process, as far as it reports it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace thalweg::detail {

struct FreeMemory {
    /// Free memory in bytes of the machine or of the process's container.
    std::int64_t bytes = INT64_MAX;
    /// Strict accounting (vm.overcommit_memory=2): shared memory is charged only at its first use,
    /// so memory that was granted can be lacking then.
    bool strict = false;
};

/// @param root  root folder of the file system; tests pass another folder
FreeMemory free_memory(const std::string& root = "");

}  // namespace thalweg::detail
