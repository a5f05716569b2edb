// A file in memory with a path, for libraries that can only write to files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "storage/posix/system.hpp"

namespace thalweg::detail {

class MemoryFile {
public:
    MemoryFile() : fd_(memfd_create("thalweg", MFD_CLOEXEC)) {
        path_ = "/proc/self/fd/" + std::to_string(fd_);
    }

    bool good() const { return fd_ >= 0; }
    const std::string& path() const { return path_; }

    /// Redirects a library's later writes to a file on disk into this file in memory, for libraries
    /// that cannot be given another path.
    /// @return false if nothing was changed, because the file is not open or is open more than once
    bool stand_in(const std::string& path) const {
        struct stat wanted;
        if (::stat(path.c_str(), &wanted) != 0) return false;
        std::error_code error;
        int only = -1;
        for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
            const int fd = std::atoi(entry.path().filename().c_str());
            struct stat found;
            // Use the path, since other threads may open and close descriptors.
            if (::stat(entry.path().c_str(), &found) != 0 || found.st_dev != wanted.st_dev ||
                found.st_ino != wanted.st_ino || (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDWR)
                continue;
            // If the file is open more than once, one of the descriptors may not be the library's.
            if (only >= 0) return false;
            only = fd;
        }
        if (only < 0) return false;
        std::vector<char> bytes(wanted.st_size);
        return read_fully(only, path, bytes.data(), wanted.st_size, 0).ok() &&
               write_fully(fd_, path_, bytes.data(), wanted.st_size, 0).ok() &&
               dup2(fd_, only) == only;
    }

private:
    Descriptor fd_;
    std::string path_;
};

}  // namespace thalweg::detail
