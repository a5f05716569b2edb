// What lets a change of several places of a file be taken back: the bytes that were there before,
// written behind the end of the file until the change is complete.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"

namespace thalweg::detail {

/// Bytes that a file had at some place.
struct SavedBytes {
    std::int64_t address = 0;
    std::vector<char> bytes;
};

/**
 * Writes them as the last bytes of a file, with a mark by which they are known.
 * @param at    where; the file has no data from there on
 * @param size  that the file gets back
 */
Status write_undo(int fd, const std::string& path, std::int64_t at, std::int64_t size,
                  std::span<const SavedBytes> saved);

/// Whether a file ends with them: a change is under way, or its run was killed.
bool has_undo(int fd);
bool has_undo(const std::string& path);

/// Puts them back, for good, where they are; else changes nothing.
/// @param undone  receives whether there were any. @return TW_OK, TW_EIO, TW_ENOMEM
Status undo(const std::string& path, bool& undone);

}  // namespace thalweg::detail
