// SPDX-License-Identifier: Apache-2.0
#include "doctor/folder.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>
#include <vector>

#include "base/text/text.hpp"
#include "publish/committed.hpp"
#include "publish/write_lock.hpp"
#include "size_text.hpp"
#include "storage/posix/file_system.hpp"
#include "storage/posix/paths.hpp"

namespace thalweg::app {

using detail::FileSystem;
using detail::Sharing;

namespace {

constexpr std::int64_t little_room = std::int64_t(1) << 30;
constexpr std::int64_t little_shared_memory = std::int64_t(256) << 20;

std::string quoted(const std::string& path) {
    std::string text = "'";
    for (const char c : path) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
}

/// An empty file, which is removed by the destructor.
class Trial {
public:
    explicit Trial(const std::string& folder) : path_(folder + "/.thalweg-doctor-XXXXXX") {
        fd_ = mkstemp(path_.data());
        error_ = fd_ < 0 ? errno : 0;
    }
    ~Trial() {
        if (fd_ < 0) return;
        close(fd_);
        unlink(path_.c_str());
    }
    Trial(const Trial&) = delete;
    Trial& operator=(const Trial&) = delete;

    int error() const { return error_; }
    bool locks() const {
        struct flock lock {};
        lock.l_type = F_WRLCK;
        lock.l_whence = SEEK_SET;
        return fcntl(fd_, F_OFD_SETLK, &lock) == 0;
    }

private:
    std::string path_;
    int fd_ = -1, error_ = 0;
};

const char* sharing_text(Sharing sharing) {
    switch (sharing) {
        case Sharing::local: return "a disk of one node";
        case Sharing::parallel: return "parallel: every node may write";
        case Sharing::nfs: return "NFS: writers on several nodes go through PnetCDF";
        case Sharing::unknown: break;
    }
    return "it is not known whether several nodes may write one file: one rank writes";
}

/// Returns the output of a command, without the last newline; "" if the command fails.
std::string output_of(const std::string& command) {
    std::array<char, 256> bytes{};
    FILE* const pipe = popen((command + " 2>/dev/null").c_str(), "r");
    if (pipe == nullptr) return "";
    const std::size_t n = fread(bytes.data(), 1, bytes.size(), pipe);
    pclose(pipe);
    const std::string text(bytes.data(), n);
    return text.substr(0, text.find('\n'));
}

void check_stripes(const std::string& folder, Diagnoses& found) {
    const std::string count = output_of("lfs getstripe -d -c " + quoted(folder));
    const std::string size = output_of("lfs getstripe -d -S " + quoted(folder));
    if (count.empty()) {
        found.push_back({Level::note, folder,
                         "Lustre, but its program lfs is not here: stripes are "
                         "not known",
                         "command -v lfs || echo 'install lustre-client-utils'"});
        return;
    }
    const bool few = std::atoi(count.c_str()) == 1;
    found.push_back({few ? Level::note : Level::good, folder,
                     fmt::format("Lustre: {} stripe(s) of {} bytes for new files{}", count, size,
                                 few ? "; large files are written faster to several" : ""),
                     few ? "lfs setstripe -c 8 -S 4M " + quoted(folder) : ""});
}

void check_room(const std::string& folder, Diagnoses& found) {
    struct statvfs info {};
    if (statvfs(folder.c_str(), &info) != 0) return;
    const auto free =
        static_cast<std::int64_t>(info.f_bavail) * static_cast<std::int64_t>(info.f_frsize);
    const auto all =
        static_cast<std::int64_t>(info.f_blocks) * static_cast<std::int64_t>(info.f_frsize);
    const bool names = info.f_files == 0 || info.f_favail > 0;
    const bool full = free < little_room || !names;
    found.push_back({full ? Level::problem : Level::good, folder,
                     fmt::format("{} of {} free{}", size_text(free), size_text(all),
                                 names ? "" : ", but no more files can be created"),
                     full ? "du -xh --max-depth=1 " + quoted(folder) + " | sort -h | tail" : ""});
}

/// Names the files that ended runs have left under temporary names.
void check_unfinished(const std::string& folder, Diagnoses& found) {
    std::vector<std::string> left;
    std::error_code error;
    for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
         at.increment(error)) {
        const std::string path = at->path(), own = detail::own_path(path);
        std::error_code ignored;
        detail::Committed data;
        if (!own.empty() && at->is_regular_file(ignored) && !detail::WriteLock::holder(own).there &&
            detail::find_committed(path, data).ok())
            left.push_back(at->path().filename());
    }
    if (left.empty()) return;
    std::ranges::sort(left);
    const std::size_t n = left.size(), shown = std::min<std::size_t>(n, 3);
    found.push_back(
        {Level::note, folder,
         fmt::format("unfinished files of ended runs: {}{}",
                     detail::joined(std::span<const std::string>(left).first(shown), ", "),
                     n > shown ? fmt::format(" and {} more", n - shown) : std::string()),
         fmt::format("thalweg recover {}  # or remove it", quoted(folder + "/" + left.front()))});
}

}  // namespace

void check_folder(const std::string& folder, int nodes, Diagnoses& found) {
    const Trial trial(folder);
    if (trial.error() != 0) {
        found.push_back({Level::problem, folder,
                         fmt::format("cannot create a file: {}", std::strerror(trial.error())),
                         "ls -ld " + quoted(folder)});
        return;
    }
    const FileSystem system = detail::file_system_at(folder);
    const bool alone = system.sharing == Sharing::local && nodes > 1;
    found.push_back({alone ? Level::problem : Level::good, folder,
                     fmt::format("file system {}, {}{}", system.name, sharing_text(system.sharing),
                                 alone ? fmt::format(", but the job has {} nodes", nodes) : ""),
                     alone ? "df -T  # choose a folder that all nodes see" : ""});
#ifndef THALWEG_HAVE_PNETCDF
    if (system.sharing == Sharing::nfs && nodes > 1)
        found.push_back({Level::problem, folder,
                         "NFS with several nodes needs PnetCDF, which this "
                         "build does not have",
                         "sudo apt install libpnetcdf-dev  # and build again"});
#endif
    if (system.lustre) check_stripes(folder, found);
    if (trial.locks())
        found.push_back({Level::good, folder, "locks: two runs cannot write one file", ""});
    else
        found.push_back(
            {Level::note, folder,
             fmt::format("no locks ({}): runs on other nodes can write the same file at "
                         "the same time; give each run names of its own",
                         std::strerror(errno)),
             "findmnt -T " + quoted(folder) + "  # Lustre needs the option flock"});
    check_room(folder, found);
    check_unfinished(folder, found);
}

void check_shared_memory(Diagnoses& found) {
    struct statvfs info {};
    if (statvfs("/dev/shm", &info) != 0) {
        found.push_back({Level::note, "/dev/shm",
                         "not there: MPI may be slow between ranks of a "
                         "node; the library does not need it",
                         "mount -t tmpfs tmpfs /dev/shm"});
        return;
    }
    const auto free =
        static_cast<std::int64_t>(info.f_bavail) * static_cast<std::int64_t>(info.f_frsize);
    const bool little = free < little_shared_memory;
    found.push_back(
        {little ? Level::note : Level::good, "/dev/shm",
         fmt::format("{} free{}", size_text(free),
                     little ? "; many ranks of MPI need more, the library does not" : ""),
         little ? "mount -o remount,size=2G /dev/shm  # Docker: --shm-size=2g" : ""});
}

}  // namespace thalweg::app
