// Reads HDF5's superblock without HDF5.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/status.hpp"

namespace thalweg::detail {

/// HDF5's superblock (HDF5 file format specification, "Disk Format: Level 0A").
struct Superblock {
    std::int64_t at = -1;  ///< byte of the file; not 0 after a user block; -1: no HDF5 file
    /// Bytes of the file that HDF5 uses, the user block included; -1: unknown version.
    std::int64_t end = -1;
};

/// Looks for a superblock at the bytes where HDF5 does: 0, 512, 1024, 2048, ...
Status find_superblock(int fd, const std::string& path, Superblock& found);

}  // namespace thalweg::detail
