// SPDX-License-Identifier: Apache-2.0
#include "storage/posix/file_system.hpp"

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "storage/posix/system.hpp"

namespace thalweg::detail {

namespace {

constexpr std::int64_t lustre_magic = 0x0BD00BD0;

/// Table of the file systems that the library knows, by their numbers in statfs(2) and
/// linux/magic.h.
constexpr struct {
    std::int64_t magic;
    Sharing sharing;
    const char* name;
} kinds[] = {
    {0xEF53, Sharing::local, "ext4"},        {0x58465342, Sharing::local, "xfs"},
    {0x9123683E, Sharing::local, "btrfs"},   {0x01021994, Sharing::local, "tmpfs"},
    {0x858458F6, Sharing::local, "ramfs"},   {0x794C7630, Sharing::local, "overlay"},
    {0x2FC12FC1, Sharing::local, "zfs"},     {0xF2F52010, Sharing::local, "f2fs"},
    {0x4D44, Sharing::local, "vfat"},        {lustre_magic, Sharing::parallel, "lustre"},
    {0x47504653, Sharing::parallel, "gpfs"}, {0x19830326, Sharing::parallel, "beegfs"},
    {0x6969, Sharing::nfs, "nfs"},           {0xFF534D42, Sharing::unknown, "cifs"},
    {0xFE534D42, Sharing::unknown, "smb2"},  {0x01021997, Sharing::unknown, "9p"},
    {0x65735546, Sharing::unknown, "fuse"},  {0x00C36400, Sharing::parallel, "ceph"},
};

}  // namespace

FileSystem file_system_of(std::int64_t magic, std::int64_t block) {
    FileSystem system;
    system.magic = magic;
    system.block = std::max<std::int64_t>(block, 4096);
    system.lustre = magic == lustre_magic;
    const auto* kind = std::find_if(std::begin(kinds), std::end(kinds),
                                    [&](const auto& k) { return k.magic == magic; });
    system.sharing = kind == std::end(kinds) ? Sharing::unknown : kind->sharing;
    system.name = kind == std::end(kinds) ? fmt::format("of type {:#x}", magic) : kind->name;
    return system;
}

AskedFileSystem ask_file_system(const std::string& path, std::int64_t stripe_size) {
    const FileSystem system = file_system_at(path);
    if (system.lustre && stripe_size < 0) stripe_size = stripe_size_of(path);
    return {system.magic, system.block, stripe_size};
}

bool file_system_named(const std::string& name, FileSystem& system) {
    for (const auto& kind : kinds)
        if (name == kind.name) {
            system = file_system_of(kind.magic, 4096);
            return true;
        }
    return false;
}

std::vector<std::string> file_system_names() {
    std::vector<std::string> names;
    for (const auto& kind : kinds) names.emplace_back(kind.name);
    return names;
}

Status check_identity(const std::string& path, const FileIdentity& created) {
    if (created.inode == 0) return {};
    errno = 0;
    const FileIdentity here = identity_at(path);
    if (here.inode == 0 && (errno == ENOENT || errno == ENOTDIR || errno == ESTALE))
        return failure(TW_EIO,
                       "{}: host {} does not see the file that rank 0 has opened, so its directory "
                       "is not shared",
                       OfFile{path}, host_name());
    if (here.inode == 0 && errno != 0) return system_failure(path, "cannot open");
    const bool same_kernel =
        here.kernel == created.kernel || here.kernel == 0 || created.kernel == 0;
    if (here.inode == created.inode && here.device == created.device && same_kernel) return {};
    return failure(
        TW_EIO,
        "{}: on host {} this is another file than on that of rank 0, so its directory is "
        "not shared",
        OfFile{path}, host_name());
}

}  // namespace thalweg::detail
