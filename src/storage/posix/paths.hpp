// Resolves paths, and names the files that belong to a file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "comm/comm.hpp"

namespace thalweg::detail {

/**
 * Makes a path that all ranks pass absolute, by rank 0's working folder, so that it does not depend
 * on the present or later working folder of any rank.
 * @return TW_OK, TW_EARG (it is empty), TW_EMISMATCH (the ranks give different ones), TW_EIO (rank
 *         0's working folder does not exist any more)
 * @note Collective
 */
Status share_path(Comm& comm, std::string_view mine, std::string& absolute);

/// Makes a path absolute by the working folder of this process. @return TW_OK, TW_EARG, TW_EIO
Status make_absolute(std::string_view path, std::string& absolute);

/// Follows the symbolic links of a path's file name, and returns the path of the file itself, which
/// need not exist.
/// @return TW_OK, TW_EIO
Status follow_links(const std::string& path, std::string& target);

/// Returns the folder of a path with its slash; "./" if the path names none.
std::string folder_of(const std::string& path);

/// Syncs the folder of a file, so that a rename in it survives a power failure.
/// @return TW_OK, TW_EIO
Status sync_folder_of(const std::string& path);

/// Returns the name of a file while it is written: NAME.part. A name that is too long for that is
/// shortened and made unique by its hash.
/// @param own  the file's own path, without links
std::string temporary_path(const std::string& own);

/// Largest number of unfinished files of earlier runs that are kept: NAME.part.1 to NAME.part.9.
inline constexpr int most_kept = 9;
std::string kept_path(const std::string& own, int number);

/// Returns the name of the lock file: .NAME.lock.
std::string lock_path(const std::string& own);

/// Returns the name of the log of chunks that are not in a netCDF-4 file's index, given the path of
/// its data: .NAME.places.
std::string place_log_path(const std::string& data);

/// Returns the path of the change that is kept beside an unfinished file (redo.hpp).
std::string redo_path(const std::string& data);

/// Returns the second name of a file while another one replaces it.
std::string former_path(const std::string& own);

/// Returns the name of the checksums of a file, given the path of its data: NAME.sums.
std::string sums_path(const std::string& data);

/// Returns the path to which a temporary or kept path belongs; empty if it is neither, or is
/// shortened.
std::string own_path(const std::string& temporary);

/// Finds the path to which a file's data are written.
/// @param live  the file has its final name from the start
/// @return TW_OK, TW_EIO
Status find_data_path(const std::string& path, bool live, std::string& data);

}  // namespace thalweg::detail
