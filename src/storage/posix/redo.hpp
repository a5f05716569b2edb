// A change of parts of a file that others depend on, kept in a second file until it is complete on
// the device: lost power may leave any sectors of it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.hpp"

namespace thalweg::detail {

/// A change of a range of a file.
struct ChangedBytes {
    std::int64_t address = 0;
    std::vector<char> before, after;  ///< of the same size
};

class RedoLog {
public:
    /// @param path  path of the file
    explicit RedoLog(std::string path) : path_(std::move(path)) {}
    ~RedoLog();
    RedoLog(const RedoLog&) = delete;
    RedoLog& operator=(const RedoLog&) = delete;

    /// Replaces the kept change, and syncs it. The file must already have the previous change on
    /// the device.
    Status write(const std::vector<ChangedBytes>& changes);
    /// Removes the kept change, before the file changes without it. @param durable  sync this
    Status drop(bool durable);

private:
    std::string path_;
    int fd_ = -1;
};

/// Makes the kept change again. Does nothing if there is none, or if some place of the file holds
/// neither the former nor the new bytes: then the file has been changed since.
/// @return TW_OK, TW_EIO, TW_ENOMEM
Status redo(const std::string& path);

}  // namespace thalweg::detail
