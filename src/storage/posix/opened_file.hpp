// Which file has a name, so that one that takes the name later is not read in its place.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/status.hpp"

namespace thalweg::detail {

/// Of one file, as rank 0 sees it when a session opens it. Plain data, which is broadcast.
struct OpenedFile {
    std::uint64_t inode = 0;
    std::int64_t born = 0;   ///< nanoseconds since 1970; 0: the file system does not tell
    std::int64_t found = 0;  ///< when it was looked at
};

Status note_opened(int fd, const std::string& path, OpenedFile& found);

/**
 * Whether a descriptor is of that file, or of a copy that the node had by then: nodes may have
 * files of their own under one name.
 * @return TW_OK; TW_ESTATE: another file has taken the name; TW_EIO
 */
Status check_opened(int fd, const std::string& path, const OpenedFile& expected);

}  // namespace thalweg::detail
