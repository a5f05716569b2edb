// Properties of file systems, and the ways of writing that they permit.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.hpp"

namespace thalweg::detail {

/// The effect of plain writes by several nodes to disjoint ranges of one file.
enum class Sharing {
    local,     ///< the disk of a single node
    parallel,  ///< safe: every node sees what the others have written
    nfs,       ///< not safe: each node caches pages, so only MPI-IO's locks help
    unknown,   ///< only one writer is known to be safe
};

struct FileSystem {
    Sharing sharing = Sharing::local;
    std::string name = "unknown";
    bool lustre = false;
    std::int64_t magic = 0;     ///< f_type of statfs(2)
    std::int64_t block = 4096;  ///< bytes

    bool operator==(const FileSystem&) const = default;
};

/// Returns the file system that has these results of statfs(2).
/// @param magic  f_type
/// @param block  f_bsize
FileSystem file_system_of(std::int64_t magic, std::int64_t block);

/// Finds a file system in the table by its name. The second function returns all names.
bool file_system_named(const std::string& name, FileSystem& system);
std::vector<std::string> file_system_names();

/// Returns the file system of a file; of an unknown kind if the system cannot tell.
FileSystem file_system_at(const std::string& path);

/// Properties of a file system, which one rank asks for on behalf of all.
struct AskedFileSystem {
    std::int64_t magic = 0, block = 4096;  ///< see FileSystem
    std::int64_t stripe_size = -1;         ///< bytes; -1: not known
};
/// Asks for the properties of the file system of a file.
/// @param stripe_size  returned unchanged; -1: replaced by the file's stripe size
AskedFileSystem ask_file_system(const std::string& path, std::int64_t stripe_size);

/// Identifies the file to which a path leads; the same on every node that sees the file. All
/// members are 0 if it is unknown.
struct FileIdentity {
    std::uint64_t inode = 0;
    std::uint64_t device = 0, kernel = 0;  ///< set for the disk of a single node; else 0
};

/// Returns the identity of a file; sets errno if it cannot be opened.
FileIdentity identity_at(const std::string& path);

/// Checks that this node sees the file that another node has created.
/// @return TW_OK, TW_EIO
Status check_identity(const std::string& path, const FileIdentity& created);

/// Creates a file, or truncates it. On Lustre a new file gets stripes, if Lustre's library is
/// installed; else `said` receives the reason.
/// @param fresh        fail if the file exists
/// @param count, size  stripes; -1: the folder's
/// @return TW_OK, TW_EIO
Status create_striped(const std::string& path, bool fresh, std::int64_t count, std::int64_t size,
                      std::string& said);

/// Returns the stripe size of a file on Lustre in bytes; -1 if unknown.
std::int64_t stripe_size_of(const std::string& path);

}  // namespace thalweg::detail
