// The identity of a file, by which nodes find out if they see the same one.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/status.hpp"

namespace thalweg::detail {

/// Identity of the file to which a path leads. It is the same on every node that sees this file.
/// All members are 0 if it is unknown.
struct FileIdentity {
    std::uint64_t inode = 0;
    /// Device number and number of the running kernel, on a disk of a single node; otherwise 0.
    std::uint64_t device = 0, kernel = 0;
};

/// Returns the identity of a file; sets errno if it cannot be opened.
FileIdentity identity_at(const std::string& path);

/// Checks that this node sees the same file that another node has created.
/// @return TW_OK, TW_EIO
Status check_identity(const std::string& path, const FileIdentity& created);

}  // namespace thalweg::detail
