// What the drivers need of the operating system.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <cstdint>
#include <string>

#include "base/size_signal.hpp"
#include "base/status.hpp"

namespace thalweg::detail {

/// In the system's words; of a limit on open files, with what it is.
std::string system_words(int error);

/// What this machine calls itself.
std::string host_name();

/// errno in the system's words.
inline Status system_failure(const std::string& path, const std::string& what) {
    return failure(TW_EIO, "{}: {}: {}", path, what, system_words(errno));
}

/// The failure of a library, which may not tell that this process may open no more files.
Status with_cause(Status status);

/// Reads all of it, or tells why not.
Status read_fully(int fd, const std::string& path, char* to, std::int64_t bytes,
                  std::int64_t offset);

/// Writes all of it, or tells why not.
Status write_fully(int fd, const std::string& path, const char* data, std::int64_t bytes,
                   std::int64_t offset);

/// fallocate(2): whether the disk has that space, which the file then holds. True where the file
/// system cannot tell.
bool has_space(int fd, int mode, std::int64_t offset, std::int64_t bytes);

/// Syncs the data to the device, or with `all` the whole, again if a signal came between.
Status sync_file(int fd, const std::string& path, bool all = false);

/// Syncs the whole of a file that this process has written to and closed.
Status sync_closed(const std::string& path);

/// close(2). On Linux the descriptor is gone even if a signal came between.
int close_file(int fd);

}  // namespace thalweg::detail
