// What is checked of a path that all ranks give.
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "session/calls.hpp"

namespace thalweg {

namespace {

/// The file may be reached by different paths.
std::string canonical(const std::string& path) {
    std::error_code ignored;
    const auto result = std::filesystem::weakly_canonical(path, ignored);
    return ignored ? path : result.string();
}

}  // namespace

Status check_path(tw_session session, const char* path) {
    Comm& world = session->team->world();
    const std::string mine = text_or_empty(path);
    std::vector<char> first(mine.begin(), mine.end());
    world.broadcast(first, 0);
    const std::string theirs(first.begin(), first.end());
    Status status;
    if (mine.empty())
        status = failure(TW_EARG, "the path of a file is empty");
    else if (theirs != mine)
        status = failure(TW_EMISMATCH, "the path is '{}' on rank 0, but '{}' on rank {}", theirs,
                         mine, world.rank());
    return agree(world, status);
}

Status check_unused(tw_session session, const std::string& path) {
    Status status;
    const std::string mine = canonical(path);
    for (const auto& f : session->files)
        if (!f->closed && canonical(f->path) == mine)
            status = failure(TW_EINUSE, "{}: the file is open in this session already", path);
    return agree(session->team->world(), status);
}

}  // namespace thalweg
