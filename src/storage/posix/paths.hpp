// Resolves paths, and names the files that belong to a file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "comm/comm.hpp"

namespace thalweg::detail {

/**
 * Makes a path absolute, relative to rank 0's working folder. All ranks pass the same path, and get
 * a path that does not depend on their working folders.
 * @return TW_OK, TW_EARG (the path is empty), TW_EMISMATCH (the ranks pass different paths), TW_EIO
 *     (rank 0's working folder does not exist any more)
 * @note Collective
 */
Status share_path(Comm& comm, std::string_view mine, std::string& absolute);

/// Makes a path absolute, relative to the working folder of this process.
/// @return TW_OK, TW_EARG, TW_EIO
Status make_absolute(std::string_view path, std::string& absolute);

/// Follows the symbolic links of a path's last component. Returns the path of the file itself,
/// which need not exist.
/// @return TW_OK, TW_EIO
Status follow_links(const std::string& path, std::string& target);

/// Returns the folder of a path with its slash; "./" if the path names none.
std::string folder_of(const std::string& path);

/// Syncs the folder of a file, so that a rename in it survives a power failure.
/// @return TW_OK, TW_EIO
Status sync_folder_of(const std::string& path);

/// Returns the name of a file while it is written: NAME.part. A name that is too long for this
/// addition is shortened, and a hash of the whole name is added.
/// @param own  final path of the file, without symbolic links
std::string temporary_path(const std::string& own);

/// Largest number of unfinished files of earlier runs that are kept: NAME.part.1 to NAME.part.9.
inline constexpr int most_kept = 9;
std::string kept_path(const std::string& own, int number);

/// Returns the name of the lock file: .NAME.lock.
std::string lock_path(const std::string& own);

/// Returns the path of the place log, .NAME.places, which lists the chunks that are not in a
/// netCDF-4 file's index yet.
/// @param data  path of the data
std::string place_log_path(const std::string& data);

/// Returns the path of the redo log of an unfinished file (redo.hpp).
std::string redo_path(const std::string& data);

/// Returns the second name that a file has while another file replaces it.
std::string former_path(const std::string& own);

/// Returns the path of a file's checksums, NAME.sums.
/// @param data  path of the data
std::string sums_path(const std::string& data);

/// Returns the final path to which a temporary or kept path belongs. Empty if `temporary` is no
/// such path, or its name was shortened.
std::string own_path(const std::string& temporary);

/// Finds the path to which a file's data are written.
/// @param live  the file is written under its final name from the start
/// @return TW_OK, TW_EIO
Status find_data_path(const std::string& path, bool live, std::string& data);

}  // namespace thalweg::detail
