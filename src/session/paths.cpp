// What is checked of a path that all ranks give.
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <string_view>

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
    const std::string_view mine = text_or_empty(path);
    std::vector<char> first;
    Status status = alone([&]() -> Status {
        first.assign(mine.begin(), mine.end());
        return {};
    });
    world.broadcast(first, 0);
    const std::string_view theirs(first.data(), first.size());
    const auto compare = [&]() -> Status {
        if (mine.empty()) return failure(TW_EARG, "the path of a file is empty");
        if (theirs == mine) return {};
        return failure(TW_EMISMATCH, "the path is '{}' on rank 0, but '{}' on rank {}", theirs,
                       mine, world.rank());
    };
    if (status.ok()) status = alone(compare);
    return agree(world, status);
}

Status check_unused(tw_session session, const char* path) {
    const auto check = [&]() -> Status {
        const std::string mine = canonical(path);
        for (const auto& f : session->files)
            if (!f->closed && canonical(f->path) == mine)
                return failure(TW_EINUSE, "{}: the file is open in this session already", path);
        return {};
    };
    return agree(session->team->world(), alone(check));
}

}  // namespace thalweg
