// Reads HDF5's superblock without HDF5.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/status.hpp"

namespace thalweg::detail {

/// HDF5's superblock (HDF5 file format specification, "Disk Format: Level 0A").
struct Superblock {
    /// Offset of the superblock in the file. Greater than 0 if there is a user block; -1 if the
    /// file is not an HDF5 file.
    std::int64_t at = -1;
    /// Size in bytes of the file as HDF5 uses it, including the user block; -1 if the superblock's
    /// version is unknown.
    std::int64_t end = -1;
};

/// Searches for a superblock at the offsets where HDF5 looks: 0, 512, 1024, 2048, ...
Status find_superblock(int fd, const std::string& path, Superblock& found);

}  // namespace thalweg::detail
