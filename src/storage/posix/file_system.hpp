// Properties of file systems, and the ways of writing that they permit.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.hpp"

namespace thalweg::detail {

/// Effect of plain writes by several nodes to disjoint ranges of one file.
enum class Sharing {
    local,     ///< disk of one node
    parallel,  ///< safe: every node sees the others' bytes
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

/// Returns the file system with these properties of statfs(2).
/// @param magic  f_type
/// @param block  f_bsize
FileSystem file_system_of(std::int64_t magic, std::int64_t block);

/// Finds a file system of the table by its name; and returns all these names.
bool file_system_named(const std::string& name, FileSystem& system);
std::vector<std::string> file_system_names();

/// Returns the file system of a file; of an unknown kind if the system cannot tell.
FileSystem file_system_at(const std::string& path);

/// The answers of a file system, which one rank asks for all.
struct AskedFileSystem {
    std::int64_t magic = 0, block = 4096;  ///< see FileSystem
    std::int64_t stripe_size = -1;         ///< bytes; -1: not known
};
/// Asks for the file system of a file.
/// @param stripe_size  returned as it is; -1: replaced by the file's stripe size
AskedFileSystem ask_file_system(const std::string& path, std::int64_t stripe_size);

/// The identity of the file that a path leads to; the same on every node that sees the file. All 0
/// if it is unknown.
struct FileIdentity {
    std::uint64_t inode = 0;
    std::uint64_t device = 0, kernel = 0;  ///< for a disk of one node; else 0
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
