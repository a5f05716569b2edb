// The file system of a simulation, whatever the real one is: in place of
// src/storage/posix/file_system_at.cpp.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include "file_system.hpp"
#include "storage/posix/file_system.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::detail {

FileSystem file_system_at(const std::string&) {
    constexpr std::int64_t lustre = 0x0BD00BD0;
    return file_system_of(lustre, 4096);
}

/// Returns no identity: all simulated nodes see the same files.
FileIdentity identity_at(const std::string&) { return {}; }

Status create_striped(const std::string& path, bool fresh, std::int64_t count, std::int64_t size,
                      std::string&) {
    scale::ask_metadata();
    scale::stripe_file(path, {count, size});
    const int fd =
        ::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC | (fresh ? O_EXCL : O_TRUNC), 0666);
    if (fd < 0) return system_failure(path, "cannot create");
    ::close(fd);
    return {};
}

std::int64_t stripe_size_of(const std::string& path) { return scale::stripe_bytes(path); }

}  // namespace thalweg::detail
