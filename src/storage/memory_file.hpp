// A file in memory with a path, for libraries that write files only.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "storage/system.hpp"

namespace thalweg {

class MemoryFile {
public:
    MemoryFile() : fd_(memfd_create("thalweg", MFD_CLOEXEC)) {
        path_ = "/proc/self/fd/" + std::to_string(fd_);
    }
    ~MemoryFile() {
        if (fd_ >= 0) ::close(fd_);
    }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;

    bool good() const { return fd_ >= 0; }
    const std::string& path() const { return path_; }

    /// Everything that was written to it.
    Status read(std::vector<char>& bytes) const {
        struct stat info {};
        if (fstat(fd_, &info) != 0) return system_failure(path_, "cannot read");
        bytes.resize(static_cast<std::size_t>(info.st_size));
        const ssize_t n = pread(fd_, bytes.data(), bytes.size(), 0);
        if (n != info.st_size) return system_failure(path_, "cannot read");
        return {};
    }

private:
    int fd_;
    std::string path_;
};

}  // namespace thalweg
