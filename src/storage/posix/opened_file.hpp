// Opens a file to read it, and recognizes it, so that another one that takes its name later is not
// read in its place.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/status.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::detail {

/// Identity of a file that rank 0 of a session has opened. Plain data, so that it can be broadcast.
struct OpenedFile {
    std::uint64_t inode = 0;
    /// Creation time in nanoseconds since 1970; 0 if the file system does not record it.
    std::int64_t born = 0;
    std::int64_t found = 0;  ///< time at which this identity was determined
};

Status note_opened(int fd, const std::string& path, OpenedFile& found);

/**
 * Checks that a descriptor refers to the expected file. A node may have its own file under the same
 * name; that file is accepted if it existed when the identity was determined.
 * @return TW_OK; TW_ESTATE: another file has taken the name; TW_EIO
 */
Status check_opened(int fd, const std::string& path, const OpenedFile& expected);

/// The descriptor of a file that is read: closed when it is not needed, and opened again later.
class ReadFile {
public:
    explicit ReadFile(const std::string& path) : path_(path) {}

    int fd() const { return fd_; }
    /// Opens the file if it is not open. @return TW_OK, TW_EIO
    Status open();
    /// Does the same, and checks that it is the expected file; see check_opened().
    Status open_again(const OpenedFile& expected);
    void close() { fd_ = -1; }
    void swap(ReadFile& other) { std::swap(fd_, other.fd_); }

private:
    const std::string& path_;  ///< must outlive this object
    Descriptor fd_;
};

}  // namespace thalweg::detail
