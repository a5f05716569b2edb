// Properties of file systems, and the ways of writing that they permit.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "storage/file_identity.hpp"

namespace thalweg::detail {

/// The safety of plain writes by several nodes to disjoint ranges of one file.
enum class Sharing {
    local,     ///< the disk of a single node
    parallel,  ///< safe: each node sees what others have written
    nfs,       ///< unsafe: each node caches pages, and only MPI-IO's locks prevent losses
    unknown,   ///< safety unknown: only one writer is used
};

struct FileSystem {
    Sharing sharing = Sharing::local;
    std::string name = "unknown";
    bool lustre = false;
    std::int64_t magic = 0;     ///< number of the file system's type: f_type of statfs(2)
    std::int64_t block = 4096;  ///< bytes

    bool operator==(const FileSystem&) const = default;
};

/// Returns the file system for given results of statfs(2).
/// @param magic  f_type
/// @param block  f_bsize
FileSystem file_system_of(std::int64_t magic, std::int64_t block);

/// Finds a file system in the table by its name. file_system_names() returns all names.
bool file_system_named(const std::string& name, FileSystem& system);
std::vector<std::string> file_system_names();

/// Returns the file system of a file; its kind is unknown if the system does not tell.
FileSystem file_system_at(const std::string& path);

/// Results of statfs(2) and of Lustre for a file, which one rank asks for and shares with all
/// others.
struct AskedFileSystem {
    std::int64_t magic = 0, block = 4096;  ///< f_type and f_bsize of statfs(2)
    std::int64_t stripe_size = -1;         ///< stripe size in bytes; -1: unknown
};
/// Asks the system for the properties of a file's file system.
/// @param stripe_size  returned unchanged; -1: replaced by the file's stripe size
AskedFileSystem ask_file_system(const std::string& path, std::int64_t stripe_size);

/// Creates a file, or truncates it. On Lustre a new file gets stripes if Lustre's library is
/// installed; if that fails, `said` receives the reason.
/// @param fresh        fail if the file exists
/// @param count, size  stripes; -1: the folder's
/// @return TW_OK, TW_EIO
Status create_striped(const std::string& path, bool fresh, std::int64_t count, std::int64_t size,
                      std::string& said);

/// Returns the stripe size of a file on Lustre in bytes; -1 if unknown.
std::int64_t stripe_size_of(const std::string& path);

}  // namespace thalweg::detail
