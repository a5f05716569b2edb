// SPDX-License-Identifier: Apache-2.0
#include "storage/posix/paths.hpp"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <vector>

#include "base/hash.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::detail {

namespace {

constexpr std::string_view suffix = ".part";
/// Length of the longest text that is added to a name: a dot before it and ".lock" after it, or
/// ".part.9".
constexpr std::size_t longest_addition = 7;
constexpr std::size_t hash_digits = 16;
constexpr std::size_t longest_stem = NAME_MAX - longest_addition;

/// Returns the file name of a path, shortened so that texts can be added to it.
std::string stem_of(const std::string& own) {
    const std::string name = own.substr(own.rfind('/') + 1);
    if (name.size() <= longest_stem) return name;
    return fmt::format("{}~{:016x}", name.substr(0, longest_stem - hash_digits - 1), hash_of(name));
}

bool is_shortened(const std::string& stem) {
    return stem.size() == longest_stem && stem[longest_stem - hash_digits - 1] == '~' &&
           stem.find_first_not_of("0123456789abcdef", longest_stem - hash_digits) ==
               std::string::npos;
}

/// Returns the folder of a path with its slash; empty if the path has none.
std::string before_name(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

}  // namespace

std::string folder_of(const std::string& path) {
    const std::string folder = before_name(path);
    return folder.empty() ? "./" : folder;
}

Status make_absolute(std::string_view path, std::string& absolute) {
    if (path.empty()) return failure(TW_EARG, "the path of a file is empty");
    absolute = path;
    if (path.front() == '/') return {};
    std::array<char, PATH_MAX> folder{};
    if (getcwd(folder.data(), folder.size()) == nullptr)
        return system_failure(absolute, "cannot get the working directory");
    absolute = fmt::format("{}/{}", folder.data(), path);
    return {};
}

Status share_path(Comm& comm, std::string_view mine, std::string& absolute) {
    std::vector<char> given, made;
    Status status;
    if (comm.rank() == 0) {
        std::string path;
        status = make_absolute(mine, path);
        given.assign(mine.begin(), mine.end());
        made.assign(path.begin(), path.end());
    }
    if (status = agree(comm, status); !status.ok()) return status;
    comm.broadcast(given, 0);
    comm.broadcast(made, 0);
    absolute.assign(made.begin(), made.end());
    const std::string_view theirs(given.data(), given.size());
    if (theirs != mine)
        status = failure(TW_EMISMATCH, "the path is '{}' on rank 0, but '{}' on rank {}", theirs,
                         mine, OfRank{comm.rank()});
    return agree(comm, status);
}

Status follow_links(const std::string& path, std::string& target) {
    constexpr int most_links = 40;  // as many links as Linux follows
    target = path;
    for (int links = 0;; ++links) {
        struct stat info {};
        if (lstat(target.c_str(), &info) != 0 || !S_ISLNK(info.st_mode)) return {};
        if (links == most_links) {
            errno = ELOOP;
            return system_failure(path, "cannot follow the symbolic link");
        }
        std::array<char, PATH_MAX> to{};
        const ssize_t n = readlink(target.c_str(), to.data(), to.size());
        if (n < 0) return system_failure(target, "cannot follow the symbolic link");
        const std::string next(to.data(), n);
        target = next.front() == '/' ? next : before_name(target) + next;
    }
}

std::string temporary_path(const std::string& own) {
    return before_name(own) + stem_of(own).append(suffix);
}

std::string kept_path(const std::string& own, int number) {
    return fmt::format("{}.{}", temporary_path(own), number);
}

std::string lock_path(const std::string& own) {
    return fmt::format("{}.{}.lock", before_name(own), stem_of(own));
}

std::string place_log_path(const std::string& data) {
    return fmt::format("{}.{}.places", before_name(data), stem_of(data));
}

std::string redo_path(const std::string& data) {
    return fmt::format("{}.{}.redo", before_name(data), stem_of(data));
}

std::string former_path(const std::string& own) {
    return fmt::format("{}.{}.old", before_name(own), stem_of(own));
}

std::string sums_path(const std::string& data) {
    return fmt::format("{}{}.sums", before_name(data), stem_of(data));
}

std::string own_path(const std::string& temporary) {
    std::string own = temporary;
    const std::size_t n = own.size();
    if (n > 2 && own[n - 2] == '.' && own[n - 1] >= '1' && own[n - 1] <= '0' + most_kept)
        own.resize(n - 2);
    if (!own.ends_with(suffix)) return "";
    own.resize(own.size() - suffix.size());
    if (own.empty() || own.back() == '/' || is_shortened(own.substr(own.rfind('/') + 1))) return "";
    return own;
}

Status find_data_path(const std::string& path, bool live, std::string& data) {
    std::string own;
    if (Status status = follow_links(path, own); !status.ok()) return status;
    data = live ? own : temporary_path(own);
    return {};
}

Status sync_folder_of(const std::string& path) {
    const std::string folder = folder_of(path);
    const Descriptor fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return system_failure(path, "cannot open its directory to sync it");
    while (fsync(fd) != 0) {
        if (errno == EINVAL) break;  // some file systems cannot sync a folder
        if (errno != EINTR) return system_failure(path, "cannot sync its directory");
    }
    return {};
}

}  // namespace thalweg::detail
