// SPDX-License-Identifier: Apache-2.0
#include "choose/file_system_options.hpp"

#include <algorithm>

namespace thalweg::detail {

FileSystemOptions choose_for_file_system(const FileSystem& system, int nodes, FileSystemOptions way,
                                         bool pnetcdf) {
    const bool shared = nodes > 1;
    const bool parallel = system.sharing == Sharing::parallel;
    const bool can_be_one = way.writers == "auto" && !way.direct;
    const bool one = way.writers == "1" && !way.direct;
    const char* const another = way.direct ? "another method with " : "";
    if (shared && system.sharing == Sharing::nfs) {
        if (way.storage == "auto" && pnetcdf) {
            way.storage = "pnetcdf";
            way.warning = fmt::format(
                "file system {}: {} nodes do not see each other's writes at once: using "
                "storage=pnetcdf",
                system.name, nodes);
        } else if ((way.storage == "netcdf4" || way.storage == "auto") && can_be_one) {
            way.writers = "1";
            way.warning = fmt::format(
                "file system {}: {} nodes do not see each other's writes at once: using writers=1",
                system.name, nodes);
        } else if (way.storage != "pnetcdf" && way.storage != "memory" && !one) {
            way.warning = fmt::format(
                "file system {}: {} nodes do not see each other's writes at once, so storage={} "
                "may lose bytes; use {}{}writers=1",
                system.name, nodes, way.storage == "auto" ? "posix" : way.storage,
                pnetcdf ? "storage=pnetcdf or " : "", another);
        }
    } else if (shared && system.sharing == Sharing::unknown) {
        if (can_be_one) {
            way.writers = "1";
            way.warning = fmt::format(
                "file system {}: not known whether {} nodes can write one file: using writers=1",
                system.name, nodes);
        } else if (!one) {
            way.warning = fmt::format(
                "file system {}: not known whether {} nodes can write one file; {}writers=1 is "
                "safe",
                system.name, nodes, another);
        }
    }
    if (way.storage == "auto") way.storage = "posix";
    if (way.alignment < 0) {
        way.alignment = 4096;
        if (parallel) way.alignment = std::max<std::int64_t>(system.block, 1 << 20);
        if (parallel && way.stripe_size > 0) way.alignment = way.stripe_size;
    }
    if (way.writers == "auto") way.writers = parallel ? "4/node" : "1/node";
    return way;
}

}  // namespace thalweg::detail
