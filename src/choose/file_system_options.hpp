// Chooses storage, writers and alignment according to the file system.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "storage/posix/file_system.hpp"
#include "storage/storage.hpp"

namespace thalweg::detail {

/// The options that determine how a file is written. Options with the value "auto" or -1 are still
/// open.
struct FileSystemOptions {
    std::string storage = "auto", writers = "auto";
    std::int64_t alignment = -1;
    std::int64_t stripe_size = -1;
    /// A warning that a choice was changed to a safer one, or is unsafe; may be empty.
    std::string warning;
    bool direct = false;  ///< each rank writes its own data; `writers` is not used
};

/// Chooses the open options for a file system. @param pnetcdf  storage=pnetcdf is available
FileSystemOptions choose_for_file_system(const FileSystem& system, int nodes,
                                         FileSystemOptions asked, bool pnetcdf = has_pnetcdf());

}  // namespace thalweg::detail
