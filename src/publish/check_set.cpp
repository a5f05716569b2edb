// SPDX-License-Identifier: Apache-2.0
#include "publish/check_set.hpp"

#include "publish/write_lock.hpp"
#include "storage/posix/paths.hpp"
#include "storage/tiles/tiles.hpp"

namespace thalweg::detail {

namespace {

bool is_written(const std::string& path, int files) {
    for (int k = 0; k < files; ++k) {
        std::string own;
        if (follow_links(tile_path(path, k), own).ok() && WriteLock::holder(own).there) return true;
    }
    return false;
}

}  // namespace

Status check_set(Comm& comm, Source& set, const std::string& path, bool common_records) {
    if (set.contents().files == 1) return {};
    char written = 0;
    if (comm.rank() == 0) written = is_written(path, set.contents().files);
    comm.broadcast(&written, 1, 0);
    return written != 0 ? Status{} : set.check_files(comm, common_records);
}

}  // namespace thalweg::detail
