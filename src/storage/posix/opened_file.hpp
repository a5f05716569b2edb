// Recognizes a file, so that another one that takes its name later is not read in its place.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/status.hpp"

namespace thalweg::detail {

/// The identity of a file, as rank 0 sees it when a session opens it. Plain data, which are
/// broadcast.
struct OpenedFile {
    std::uint64_t inode = 0;
    std::int64_t born = 0;   ///< nanoseconds since 1970; 0: the file system does not know
    std::int64_t found = 0;  ///< time of this look
};

Status note_opened(int fd, const std::string& path, OpenedFile& found);

/**
 * Tests if a descriptor is of that file, or of a copy that the node had by then: nodes may have
 * files of their own under one name.
 * @return TW_OK; TW_ESTATE: another file has taken the name; TW_EIO
 */
Status check_opened(int fd, const std::string& path, const OpenedFile& expected);

}  // namespace thalweg::detail
