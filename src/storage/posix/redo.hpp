// Logs a change of existing bytes of a file in a second file until it is complete on the device,
// because a power failure during the change can leave any of its sectors old or new.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::detail {

/// A change of a range of a file: its former and its new bytes.
struct ChangedBytes {
    std::int64_t address = 0;
    std::vector<char> before, after;  ///< contents of the range; both have the same size
};

class RedoLog {
public:
    /// @param path  path of the file that changes
    explicit RedoLog(std::string path) : path_(std::move(path)) {}

    /// Replaces the logged changes and syncs the log. The file must already have the previous
    /// changes on the device.
    Status write(const std::vector<ChangedBytes>& changes);
    /// Removes the log. Must be called before the file changes in ways that are not logged.
    /// @param durable  sync the removal
    Status drop(bool durable);

private:
    std::string path_;
    Descriptor fd_;
};

/// Makes the logged changes of a file again. Does nothing if there is no log, or if some range of
/// the file has neither its former nor its new bytes, as the file was then changed later.
/// @return TW_OK, TW_EIO, TW_ENOMEM
Status redo(const std::string& path);

}  // namespace thalweg::detail
