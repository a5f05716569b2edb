// Asks the system, and Lustre's library, for a file's properties, and sets its stripes.
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "storage/posix/file_system.hpp"
#include "storage/posix/paths.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::detail {

namespace {

/// Lustre's library, loaded at run time if it is installed.
class Lustre {
public:
    Lustre() : library_(dlopen("liblustreapi.so.1", RTLD_NOW | RTLD_LOCAL)) {
        if (library_ == nullptr) library_ = dlopen("liblustreapi.so", RTLD_NOW | RTLD_LOCAL);
    }
    ~Lustre() {
        if (library_ != nullptr) dlclose(library_);
    }
    Lustre(const Lustre&) = delete;
    Lustre& operator=(const Lustre&) = delete;

    template <class Function>
    Function* find(const char* name) const {
        return library_ == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(library_, name));
    }

private:
    void* library_;
};

}  // namespace

FileSystem file_system_at(const std::string& path) {
    struct statfs info {};
    if (statfs(path.c_str(), &info) != 0) return file_system_of(0, 4096);
    // Magic numbers have 32 bits, even where f_type is wider.
    return file_system_of(static_cast<std::uint32_t>(info.f_type), info.f_bsize);
}

namespace {

/// Returns a number of the running kernel that changes with every boot; 0 if unknown.
std::uint64_t this_kernel() {
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string id;
    file >> id;
    std::erase(id, '-');
    return std::strtoull(id.substr(0, 16).c_str(), nullptr, 16);
}

}  // namespace

FileIdentity identity_at(const std::string& path) {
    // Open the file instead of calling stat(), which NFS answers from its cache.
    const Descriptor fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    FileIdentity identity;
    struct stat info {};
    struct statfs system {};
    if (fd >= 0 && fstat(fd, &info) == 0 && fstatfs(fd, &system) == 0) {
        const auto magic = static_cast<std::uint32_t>(system.f_type);
        const Sharing sharing = file_system_of(magic, system.f_bsize).sharing;
        // On an unknown file system, inode numbers may differ between nodes.
        if (sharing != Sharing::unknown) identity.inode = info.st_ino;
        if (sharing == Sharing::local) identity.device = info.st_dev;
    }
    if (identity.device != 0) identity.kernel = this_kernel();
    return identity;
}

Status create_striped(const std::string& path, bool fresh, std::int64_t count, std::int64_t size,
                      std::string& said) {
    if (count >= 0 || size >= 0) {
        const FileSystem system = file_system_at(folder_of(path));
        const Lustre lustre;
        using Open = int(const char*, int, mode_t, unsigned long long, int, int, int);
        Open* const open = lustre.find<Open>("llapi_file_open");
        if (!system.lustre) {
            said = fmt::format(
                "the file system is {}, not Lustre: the setting stripes is used only as "
                "hints for MPI-IO",
                system.name);
        } else if (open == nullptr) {
            said =
                "liblustreapi not found: the setting stripes is used only as hints for "
                "MPI-IO";
        } else {
            // A file's stripes cannot be changed, so remove an old file first.
            if (!fresh && unlink(path.c_str()) != 0 && errno != ENOENT)
                return system_failure(path, "cannot replace");
            const int fd = open(path.c_str(), O_CREAT | O_WRONLY | O_EXCL | O_CLOEXEC, 0666,
                                static_cast<unsigned long long>(std::max<std::int64_t>(size, 0)),
                                -1, static_cast<int>(std::max<std::int64_t>(count, 0)), 0);
            if (fd >= 0) {
                ::close(fd);
                return {};
            }
            said = fmt::format("Lustre rejected the setting stripes: {}", std::strerror(-fd));
        }
    }
    const int fd =
        ::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC | (fresh ? O_EXCL : O_TRUNC), 0666);
    if (fd < 0) return cannot_create(path);
    ::close(fd);
    return {};
}

std::int64_t stripe_size_of(const std::string& path) {
    struct Stripes;
    const Lustre lustre;
    auto* const get = lustre.find<Stripes*(const char*, std::uint32_t)>("llapi_layout_get_by_path");
    auto* const size =
        lustre.find<int(const Stripes*, std::uint64_t*)>("llapi_layout_stripe_size_get");
    auto* const free = lustre.find<void(Stripes*)>("llapi_layout_free");
    if (get == nullptr || size == nullptr || free == nullptr) return -1;
    Stripes* const layout = get(path.c_str(), 0);
    if (layout == nullptr) return -1;
    std::uint64_t bytes = 0;
    // Lustre represents "default" and "wide" by values above a terabyte.
    const bool known = size(layout, &bytes) == 0 && bytes > 0 && bytes < (std::uint64_t(1) << 40);
    free(layout);
    return known ? static_cast<std::int64_t>(bytes) : -1;
}

}  // namespace thalweg::detail
