// SPDX-License-Identifier: Apache-2.0
#include "ground.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "options.hpp"

namespace thalweg::bench {
namespace {

/// Throws rank 0's error on all ranks.
void throw_alike(const RankGroup& rank_group, std::string wrong) {
    int length = static_cast<int>(wrong.size());
    MPI_Bcast(&length, 1, MPI_INT, 0, rank_group.comm());
    wrong.resize(static_cast<std::size_t>(length));
    MPI_Bcast(wrong.data(), length, MPI_CHAR, 0, rank_group.comm());
    if (!wrong.empty()) throw UsageError(wrong);
}

}  // namespace

void check_folder(const RankGroup& rank_group, const std::string& folder, double bytes_needed) {
    std::string wrong;
    if (rank_group.rank() == 0) {
        struct stat s {};
        struct statvfs v {};
        if (::stat(folder.c_str(), &s) != 0)
            wrong = fmt::format("--dir {}: {}", folder, std::strerror(errno));
        else if (!S_ISDIR(s.st_mode))
            wrong = fmt::format("--dir {}: not a directory", folder);
        else if (::access(folder.c_str(), W_OK) != 0)
            wrong = fmt::format("--dir {}: {}", folder, std::strerror(errno));
        else if (::statvfs(folder.c_str(), &v) == 0) {
            const auto room = static_cast<double>(v.f_bavail) * static_cast<double>(v.f_frsize);
            if (room < bytes_needed)
                wrong = fmt::format("--dir {}: {:.1f} GB needed, {:.1f} GB free", folder,
                                    bytes_needed / 1e9, room / 1e9);
        }
    }
    throw_alike(rank_group, wrong);
}

void check_json_file(const RankGroup& rank_group, const std::string& path) {
    if (path.empty()) return;
    std::string wrong;
    if (rank_group.rank() == 0) {
        std::FILE* f = std::fopen(path.c_str(), "a");
        if (!f) wrong = fmt::format("--json {}: {}", path, std::strerror(errno));
        if (f) std::fclose(f);
    }
    throw_alike(rank_group, wrong);
}

std::string file_name(std::string method) {
    for (char& c : method)
        if (c == ':' || c == '=' || c == '/') c = '-';
    return method;
}

std::string Ground::file_of(const std::string& method) const {
    return prefix_ + "-" + file_name(method);
}

Ground::Ground(const RankGroup& rank_group, const std::string& folder) : rank_group_(rank_group) {
    int id = static_cast<int>(getpid());
    MPI_Bcast(&id, 1, MPI_INT, 0, rank_group.comm());
    prefix_ = fmt::format("{}/thalweg-bench-{}", folder, id);
}

void Ground::prewarm(std::int64_t bytes) const {
    const auto ranks = static_cast<std::size_t>(rank_group_.ranks());
    std::vector<char> out(std::size_t{16384} * ranks, 1), in(out.size());
    MPI_Alltoall(out.data(), 16384, MPI_CHAR, in.data(), 16384, MPI_CHAR, rank_group_.comm());
    write_scratch(bytes);
    remove(scratch());
}

void Ground::level(std::int64_t bytes, const std::string& last_file, bool flush,
                   int settle_ms) const {
    constexpr std::int64_t most = 1'000'000'000;  // less than the amount at which the kernel begins
                                                  // to write to disk
    write_scratch(std::min(bytes, most));
    remove(last_file);
    remove(scratch());
    if (rank_group_.rank() == 0 && flush) ::sync();
    usleep(static_cast<useconds_t>(settle_ms) * 1000);
    rank_group_.wait();
}

void Ground::remove(const std::string& path) const {
    if (rank_group_.rank() == 0 && !path.empty()) ::unlink(path.c_str());
}

void Ground::write_scratch(std::int64_t total) const {
    const int file = total > 0 ? ::open(scratch().c_str(), O_WRONLY | O_CREAT, 0666) : -1;
    if (file >= 0) {
        // Write in the largest pages of the page cache: a large free page can also serve small
        // requests later, but small ones cannot serve large requests.
        const std::vector<char> piece(std::size_t{2} << 20, 1);
        const auto size = static_cast<std::int64_t>(piece.size());
        for (std::int64_t at = total * rank_group_.rank() / rank_group_.ranks() / size * size;
             at < total * (rank_group_.rank() + 1) / rank_group_.ranks(); at += size)
            if (::pwrite(file, piece.data(), piece.size(), at) < 0) break;
        ::close(file);
    }
    rank_group_.wait();
}

}  // namespace thalweg::bench
