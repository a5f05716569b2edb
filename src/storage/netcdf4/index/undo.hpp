// Saves the bytes of a file before several places of it change, so that the change can be undone:
// they are written after the end of the file until the change is complete.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.hpp"

namespace thalweg::detail {

/// A range of a file, and the bytes that it contained before a change.
struct SavedBytes {
    std::int64_t address = 0;
    std::vector<char> bytes;
};

/**
 * Writes saved bytes and a mark to the end of a file.
 * @param at    address after all data of the file, at which the saved bytes begin
 * @param size  size that undo() gives the file
 */
Status write_undo(int fd, const std::string& path, std::int64_t at, std::int64_t size,
                  const std::vector<SavedBytes>& saved);

/// Tests if a file ends with saved bytes: a run is changing the file, or was killed while it did.
bool has_undo(int fd);
bool has_undo(const std::string& path);

/// Restores the saved bytes of a file, if it has any, and syncs it.
/// @param undone  becomes true if bytes were restored
/// @return TW_OK, TW_EIO, TW_ENOMEM
Status undo(const std::string& path, bool& undone);

}  // namespace thalweg::detail
