// SPDX-License-Identifier: Apache-2.0
#include "plan/calibrate/trial.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/clock.hpp"
#include "plan/calibrate/calibrate.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::planning {

using namespace detail;

namespace {

/// Bytes of each writer in the first round; bytes of the largest write; bytes on the disk that each
/// rank needs.
constexpr std::int64_t least = 4 << 20, large = 2 << 20, room_of_rank = 60001;

double processor_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

double Pattern::rate() const {
    std::vector<double> sorted = rates;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
}

Trial::Trial(Team& team, const std::string& folder)
    : team_(team), path_(folder + "/thalweg-calibrate.tmp"), data_(make_private_memory(large)) {}

Trial::~Trial() {
    if (team_.rank() == 0) ::unlink(path_.c_str());
}

Status Trial::find_room() {
    Status status;
    if (!data_) status = failure(TW_ENOMEM, "out of memory");
    if (team_.rank() == 0 && status.ok()) {
        struct statvfs info {};
        const std::string folder = path_.substr(0, path_.rfind('/'));
        if (statvfs(folder.c_str(), &info) != 0)
            status = system_failure(folder, "cannot get its free space");
        else
            room_ = static_cast<std::int64_t>(std::min<std::uint64_t>(
                        static_cast<std::uint64_t>(info.f_bavail) * info.f_frsize, 1ULL << 40)) /
                    4;
        if (status.ok() && room_ < room_of_rank * team_.size())
            status = failure(TW_EIO, "{}: too little free space to measure", folder);
    }
    team_.world().broadcast(&room_, sizeof room_, 0);
    return team_.agree(status);
}

Status Trial::write(const Pattern& p, int writer, std::int64_t bytes) {
    const int fd = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) return system_failure(path_, "cannot open for writing");
    Status status;
    const std::int64_t pairs = std::max(1, p.writers / 2);
    const std::int64_t of_pair = 2 * ((bytes + p.size - 1) / p.size * p.size);
    for (std::int64_t at = 0, k = 0; at < bytes && status.ok(); at += p.size, ++k) {
        const std::int64_t n = std::min(p.size, bytes - at);
        const std::int64_t to = p.interleaved
                                    ? writer % pairs * of_pair + (2 * k + writer / pairs) * p.size
                                    : writer * bytes + at;
        status = write_fully(fd, path_, data_->data(), n, to);
    }
    if (p.durable && status.ok() && ::fsync(fd) != 0)
        status = system_failure(path_, "fsync failed");
    if (::close(fd) != 0 && status.ok()) status = system_failure(path_, "close failed");
    return status;
}

/// Writes a new file as a model would.
/// @param bytes  bytes of each writer
Status Trial::round(const Pattern& pattern, std::int64_t bytes, double& seconds) {
    Status status;
    if (team_.rank() == 0) {
        const int fd = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        if (fd < 0)
            status = system_failure(path_, "cannot create");
        else
            ::close(fd);
    }
    if (status = team_.agree(status); !status.ok()) return status;
    // The writers are spread over the ranks in node order.
    const Topology& t = team_.topology();
    const int place = t.first[static_cast<std::size_t>(t.node)] + t.node_rank;
    int writer = -1;
    for (int w = 0; w < pattern.writers; ++w) {
        const std::int64_t spread = static_cast<std::int64_t>(w) * team_.size() / pattern.writers;
        if ((pattern.first_ranks ? w : spread) == place) writer = w;
    }
    const double begin = now(), used = processor_seconds();
    if (writer >= 0) status = write(pattern, writer, bytes);
    const double passed = now() - begin;
    if (writer == 0 && passed > 0) processor_ = (processor_seconds() - used) / passed;
    seconds = all_max(team_, writer >= 0 ? passed : 0);
    return team_.agree(status);
}

Status Trial::warm_up() {
    const auto n = static_cast<int>(team_.size());
    double passed = 0;
    return round({n, large}, std::min(Pattern{}.most, room_ / n), passed);
}

Status Trial::measure(Pattern& p, double seconds) {
    const std::int64_t limit = std::min(p.most, room_ / p.writers);
    if (p.bytes == 0) p.bytes = std::min(least, limit);
    const double begin = now();
    for (bool more = true; more;) {
        double passed = 0;
        if (Status s = round(p, p.bytes, passed); !s.ok()) return s;
        p.rates.push_back(static_cast<double>(p.bytes * p.writers) / std::max(1e-9, passed));
        const double left = seconds - (now() - begin);
        // Rounds that are too short measure opening the file instead of writing it.
        const bool longer = passed < seconds / 8 && p.bytes * 2 <= limit;
        std::int64_t next[2] = {longer || left > passed, longer ? p.bytes * 2 : p.bytes};
        team_.world().broadcast(next, sizeof next, 0);
        more = next[0] != 0;
        if (next[1] != p.bytes) p.rates.clear();
        p.bytes = next[1];
    }
    return {};
}

Status Trial::names(double seconds, Folder& folder) {
    Status status;
    double times[2] = {0, 0};  // seconds to create and remove a file, and seconds to rename it
    if (team_.rank() == 0) {
        const std::string other = path_ + ".2";
        int n = 0;
        const double begin = now();
        while (status.ok() && (n == 0 || now() - begin < seconds)) {
            const double start = now();
            const int fd = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
            if (fd < 0) {
                status = system_failure(path_, "cannot create");
                break;
            }
            ::close(fd);
            const double created = now();
            if (::rename(path_.c_str(), other.c_str()) != 0)
                status = system_failure(path_, "cannot rename");
            times[0] += created - start;
            times[1] += now() - created;
            ::unlink(other.c_str());
            ++n;
        }
        for (double& t : times) t /= std::max(1, n);
    }
    team_.world().broadcast(times, sizeof times, 0);
    folder.create = times[0];
    folder.rename = times[1];
    return team_.agree(status);
}

}  // namespace thalweg::planning
