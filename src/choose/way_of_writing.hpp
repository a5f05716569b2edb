// Chooses storage, writers and alignment according to the file system.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "storage/posix/file_system.hpp"

namespace thalweg::detail {

/// The way a file is written; "auto" and -1 leave the choice open.
struct WayOfWriting {
    std::string storage = "auto", writers = "auto";
    std::int64_t alignment = -1;
    std::int64_t stripe_size = -1;
    std::string warning;  ///< message about a safer choice, or about an unsafe one; may be empty
    bool direct = false;  ///< every rank writes; `writers` is ignored
};
/// Chooses for a file system. @param pnetcdf  storage=pnetcdf can be chosen
WayOfWriting choose_way(const FileSystem& system, int nodes, WayOfWriting asked, bool pnetcdf);
/// Chooses with the storages that this build of the library has.
WayOfWriting choose_way(const FileSystem& system, int nodes, WayOfWriting asked);

}  // namespace thalweg::detail
