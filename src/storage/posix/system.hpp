// Functions of the operating system that the drivers use.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <cstdint>
#include <string>
#include <vector>

#include "base/size_signal.hpp"
#include "base/status.hpp"

namespace thalweg::detail {

/// Returns the system's text for an error. If too many files are open, adds the limit.
std::string system_words(int error);

/// Returns this machine's name.
std::string host_name();

/// Returns an error with the system's text for errno.
inline Status system_failure(const std::string& path, const std::string& what) {
    return failure(TW_EIO, "{}: {}: {}", OfFile{path}, what, system_words(errno));
}

/// Adds to the error of a library that this process cannot open more files, if that is the cause.
Status with_cause(Status status);

/// Reads all bytes, or returns an error.
Status read_fully(int fd, const std::string& path, char* to, std::int64_t bytes,
                  std::int64_t offset);

/// Writes all bytes, or returns an error.
Status write_fully(int fd, const std::string& path, const char* data, std::int64_t bytes,
                   std::int64_t offset);

/// Reads all bytes of a file.
Status read_file(const std::string& path, std::vector<char>& bytes);

/// Creates a file, or replaces its contents.
Status write_file(const std::string& path, const std::vector<char>& bytes);

/// Reserves space by fallocate(2). Returns false if the disk has none; true if the file system does
/// not support it.
bool has_space(int fd, int mode, std::int64_t offset, std::int64_t bytes);

/// Syncs the data to the device; with `all`, also the metadata. Repeats the call if a signal
/// interrupts it.
Status sync_file(int fd, const std::string& path, bool all = false);

/// Syncs the data and metadata of a file that this process has written to and closed.
Status sync_closed(const std::string& path);

/// Closes a descriptor. On Linux it is closed even if a signal interrupts the call.
int close_file(int fd);

}  // namespace thalweg::detail
