// What a file system is, and what that means for who may write how.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.hpp"

namespace thalweg::detail {

/// What several nodes may do to one file with plain writes to disjoint ranges.
enum class Sharing {
    local,     ///< a disk of one node
    parallel,  ///< made for it: every node sees the others' bytes
    nfs,       ///< pages are cached by each node: only MPI-IO's locks help
    unknown,   ///< nobody can tell: one writer is safe
};

struct FileSystem {
    Sharing sharing = Sharing::local;
    std::string name = "unknown";
    bool lustre = false;
    std::int64_t magic = 0;     ///< f_type of statfs(2)
    std::int64_t block = 4096;  ///< bytes

    bool operator==(const FileSystem&) const = default;
};

/// @param magic  f_type of statfs(2); block: its f_bsize
FileSystem file_system_of(std::int64_t magic, std::int64_t block);

/// The one of a name that the table has, and all these names.
bool file_system_named(const std::string& name, FileSystem& system);
std::vector<std::string> file_system_names();

/// That of a file; of an unknown kind if it cannot be asked.
FileSystem file_system_at(const std::string& path);

/// The answers of a file system, which one rank asks for all.
struct AskedFileSystem {
    std::int64_t magic = 0, block = 4096;  ///< see FileSystem
    std::int64_t stripe_size = -1;         ///< bytes; -1: not known
};
/// @param stripe_size  as it was asked for; -1: as it is
AskedFileSystem ask_file_system(const std::string& path, std::int64_t stripe_size);

/// Which file a path leads to; the same on every node that sees the file. All 0 where that cannot
/// be told.
struct FileIdentity {
    std::uint64_t inode = 0;
    std::uint64_t device = 0, kernel = 0;  ///< of a disk of one node; else 0
};

/// With errno, if the file cannot be opened.
FileIdentity identity_at(const std::string& path);

/// Whether this node sees the file that another one has created. @return TW_OK, TW_EIO
Status check_identity(const std::string& path, const FileIdentity& created);

/// Creates a file, or empties it. On Lustre a new one gets stripes, where the library of Lustre is
/// there; `said` receives why not. @param fresh  fail if there is one. @param count, size  -1: the
/// folder's
/// @return TW_OK, TW_EIO
Status create_striped(const std::string& path, bool fresh, std::int64_t count, std::int64_t size,
                      std::string& said);

/// Bytes of a stripe of a file on Lustre; -1 if they cannot be told.
std::int64_t stripe_size_of(const std::string& path);

}  // namespace thalweg::detail
