// Which file a path means, and the names beside it that belong to it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "comm/comm.hpp"

namespace thalweg::detail {

/**
 * Makes of a path that all ranks give the one that all of them use, whatever their working folders
 * are and become: absolute, by rank 0's working folder.
 * @return TW_OK, TW_EARG (it is empty), TW_EMISMATCH (the ranks give different ones), TW_EIO (rank
 *         0's working folder is gone)
 * @note Collective
 */
Status share_path(Comm& comm, std::string_view mine, std::string& absolute);

/// By this process's working folder. @return TW_OK, TW_EARG, TW_EIO
Status make_absolute(std::string_view path, std::string& absolute);

/// Where the symbolic links of a path's last name lead to: what is written to, there or not.
/// @return TW_OK, TW_EIO
Status follow_links(const std::string& path, std::string& target);

/// With the slash at its end; "./" if the path names none.
std::string folder_of(const std::string& path);

/// Syncs the folder of a file, so that a rename in it survives a power failure. @return TW_OK,
/// TW_EIO
Status sync_folder_of(const std::string& path);

/// The name of a file as long as it is written: NAME.part. A name that is too long for that is
/// shortened, and told from others by its hash.
/// @param own  the file's own path, without links
std::string temporary_path(const std::string& own);

/// Unfinished files of earlier runs are kept beside it: NAME.part.1 to NAME.part.9.
inline constexpr int most_kept = 9;
std::string kept_path(const std::string& own, int number);

/// The lock of whoever writes the file: .NAME.lock.
std::string lock_path(const std::string& own);

/// The log of chunks of a netCDF-4 file that are not in its index, by the path of its data:
/// .NAME.places.
std::string place_log_path(const std::string& data);

/// The path of which this is a temporary or kept one; empty if it is neither, or is shortened.
std::string own_path(const std::string& temporary);

/// Where the data of a file go. @param live  under its own name from the start
/// @return TW_OK, TW_EIO
Status find_data_path(const std::string& path, bool live, std::string& data);

}  // namespace thalweg::detail
