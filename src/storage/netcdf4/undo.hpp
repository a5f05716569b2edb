// Saves the bytes of a file before several places of it change, so that the change can be undone:
// they are written behind the end of the file until the change is complete.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"

namespace thalweg::detail {

/// The previous bytes of a range of a file.
struct SavedBytes {
    std::int64_t address = 0;
    std::vector<char> bytes;
};

/**
 * Writes saved bytes to the end of a file, with a mark by which they are recognized.
 * @param at    address at which to write them; the file has no data from there on
 * @param size  size of the file after undo()
 */
Status write_undo(int fd, const std::string& path, std::int64_t at, std::int64_t size,
                  std::span<const SavedBytes> saved);

/// Tests if a file ends with saved bytes: a change is being made, or its run was killed.
bool has_undo(int fd);
bool has_undo(const std::string& path);

/// Restores the saved bytes of a file, if it has any, and syncs it.
/// @param undone  becomes true if bytes were restored
/// @return TW_OK, TW_EIO, TW_ENOMEM
Status undo(const std::string& path, bool& undone);

}  // namespace thalweg::detail
