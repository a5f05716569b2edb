// Chooses storage, writers and alignment by what the file system allows.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "storage/posix/file_system.hpp"

namespace thalweg::detail {

/// How a file is written; "auto" and -1 where the user left the choice.
struct WayOfWriting {
    std::string storage = "auto", writers = "auto";
    std::int64_t alignment = -1;
    std::int64_t stripe_size = -1;
    std::string warning;  ///< what was chosen for safety, or what is not safe; may be empty
    bool direct = false;  ///< every rank writes, whatever `writers` says
};
/// @param pnetcdf  whether storage=pnetcdf can be chosen
WayOfWriting choose_way(const FileSystem& system, int nodes, WayOfWriting asked, bool pnetcdf);
/// With what this build of the library has.
WayOfWriting choose_way(const FileSystem& system, int nodes, WayOfWriting asked);

}  // namespace thalweg::detail
