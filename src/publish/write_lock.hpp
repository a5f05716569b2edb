// A lock that gives a file one writer at a time, and ends with the process that holds it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/status.hpp"

namespace thalweg::detail {

/// The process that writes a file, as far as this host can tell.
struct LockHolder {
    bool there = false;
    std::string host;      ///< empty if unknown
    int process = 0;       ///< 0 if unknown
    bool foreign = false;  ///< the lock file is not one of this library
};

/// An exclusive lock for writing a file. The lock is on a separate file, .NAME.lock, because other
/// libraries lock the data file themselves, and readers must not meet a lock.
class WriteLock {
public:
    WriteLock() = default;
    ~WriteLock() { release(); }
    WriteLock(const WriteLock&) = delete;
    WriteLock& operator=(const WriteLock&) = delete;

    /**
     * @param own       path of the file to be written, without symbolic links
     * @param in_place  succeed without a lock if no files can be created in the folder
     * @param said      receives a warning if the file system does not make the lock safe
     * @return TW_OK; TW_EINUSE, naming host and process that hold it; TW_EIO
     */
    Status take(const std::string& own, bool in_place, std::string& said);
    /// Checks that no other process holds the lock at the same time, as some file systems grant it
    /// twice.
    /// @return TW_OK; TW_EINUSE, naming host and process
    Status check_held(const std::string& own) const;
    void release();
    /// Finds the process that writes a file. @param own  the path of the file, without links
    static LockHolder holder(const std::string& own);

private:
    bool is_at_path() const;
    Status try_take(const std::string& own, std::string& said, bool& again, int& refused);

    std::string path_;
    int fd_ = -1;
    /// Name of this host, as written to the lock file together with the process number; empty if
    /// writing failed.
    std::string host_;
};

}  // namespace thalweg::detail
