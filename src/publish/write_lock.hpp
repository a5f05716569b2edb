// A lock that gives a file one writer at a time, and ends with the process that holds it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/status.hpp"

namespace thalweg::detail {

/// The process that writes a file, as far as this host can see.
struct LockHolder {
    bool there = false;
    std::string host;  ///< empty if unknown
    int process = 0;   ///< 0 if unknown
};

/// It lies in a file of its own, .NAME.lock: libraries that write or read the data have locks of
/// their own on those, and readers are to see none.
class WriteLock {
public:
    WriteLock() = default;
    ~WriteLock() { release(); }
    WriteLock(const WriteLock&) = delete;
    WriteLock& operator=(const WriteLock&) = delete;

    /**
     * @param own       path of the file to be written, without links
     * @param in_place  do without a lock if the folder cannot take new files
     * @param said      receives a warning if the lock is not safe; may stay empty
     * @return TW_OK; TW_EINUSE, naming host and process; TW_EIO
     */
    Status take(const std::string& own, bool in_place, std::string& said);
    /// Tests if another process has taken the lock, too, because the file system does not exclude
    /// it.
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
    std::string host_;  ///< host written to the file with this process; empty if that failed
};

}  // namespace thalweg::detail
