// Checks of a path that all ranks pass.
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "session/calls.hpp"

namespace thalweg::detail {

std::string canonical(const std::string& path) {
    std::error_code ignored;
    const auto result = std::filesystem::weakly_canonical(path, ignored);
    return ignored ? path : result.string();
}

Status check_unused(tw_session session, const std::string& path) {
    if (session->rank != 0) return {};
    const std::string mine = canonical(path);
    for (const tw_file_impl* f : session->files)
        if (!f->closed && canonical(f->path()) == mine)
            return failure(TW_EINUSE, "{}: the file is already open in this session", path);
    return {};
}

}  // namespace thalweg::detail
