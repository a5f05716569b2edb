// Chooses storage, writers and alignment according to the file system.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "storage/posix/file_system.hpp"

namespace thalweg::detail {

/// The options that decide how a file is written; "auto" and -1 leave them open.
struct WayOfWriting {
    std::string storage = "auto", writers = "auto";
    std::int64_t alignment = -1;
    std::int64_t stripe_size = -1;
    /// Message about a safer choice, or about one that is unsafe; may be empty.
    std::string warning;
    bool direct = false;  ///< every rank writes its own data; `writers` is ignored
};
/// Chooses the open options for a file system. @param pnetcdf  storage=pnetcdf can be chosen
WayOfWriting choose_way(const FileSystem& system, int nodes, WayOfWriting asked, bool pnetcdf);
/// Does the same, with the storages that this build of the library has.
WayOfWriting choose_way(const FileSystem& system, int nodes, WayOfWriting asked);

}  // namespace thalweg::detail
