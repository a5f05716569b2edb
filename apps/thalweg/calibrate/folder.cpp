// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "calibrate/calibrate.hpp"
#include "comm/clock.hpp"
#include "storage/posix/file_system.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::app {

using namespace detail;

namespace {

constexpr std::int64_t small = 64 << 10, large = 2 << 20;
constexpr std::int64_t least = 4 << 20, most = 128 << 20;  ///< bytes of a writer in a round
constexpr std::int64_t odd = 60001;  ///< a write's bytes that end within a block

/// Rounds of measurements, spread over the whole time: a machine is not always equally fast.
constexpr int passes = 3;

/// A way to write, and the rates that were measured, in bytes per second of all writers.
struct Pattern {
    int writers = 1;
    std::int64_t size = large;  ///< bytes of a write
    bool durable = false;
    bool interleaved = false;  ///< the writers' writes lie between each other's
    std::int64_t bytes = 0;    ///< of a writer in a round; 0: not known yet
    std::vector<double> rates{};

    double rate() const {
        std::vector<double> sorted = rates;
        std::sort(sorted.begin(), sorted.end());
        return sorted[sorted.size() / 2];
    }
};

double processor_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// A file that the ranks write in turns of measurements.
class Trial {
public:
    Trial(Team& team, const std::string& folder)
        : team_(team),
          path_(folder + "/thalweg-calibrate.tmp"),
          data_(make_private_memory(large)) {}
    ~Trial() {
        if (team_.rank() == 0) ::unlink(path_.c_str());
    }
    Trial(const Trial&) = delete;
    Trial& operator=(const Trial&) = delete;

    /// Adds rounds for some seconds, one at least. @note Collective
    Status measure(Pattern& pattern, double seconds);
    /// Writes as much as any round does: memory and disk are slow the first time. @note Collective
    Status warm_up();
    /// Creates, renames and removes files. @note Collective
    Status names(double seconds, Folder& folder);
    /// Most bytes of a round that the file system has room for. @note Collective
    Status find_room();
    /// Of the writer's processor in the last round, per second of writing.
    double processor() const { return processor_; }

private:
    Status round(const Pattern& pattern, std::int64_t bytes, double& seconds);
    Status write(const Pattern& pattern, int writer, std::int64_t bytes);

    Team& team_;
    std::string path_;
    std::unique_ptr<Memory> data_;
    std::int64_t room_ = 0;
    double processor_ = 1;
};

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
        if (status.ok() && room_ < odd * team_.size())
            status = failure(TW_EIO, "{}: too little free space to measure", folder);
    }
    team_.world().broadcast(&room_, sizeof room_, 0);
    return team_.agree(status);
}

Status Trial::write(const Pattern& p, int writer, std::int64_t bytes) {
    const int fd = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) return system_failure(path_, "cannot open for writing");
    Status status;
    for (std::int64_t at = 0, k = 0; at < bytes && status.ok(); at += p.size, ++k) {
        const std::int64_t n = std::min(p.size, bytes - at);
        const std::int64_t to =
            p.interleaved ? (k * p.writers + writer) * p.size : writer * bytes + at;
        status = write_fully(fd, path_, data_->data(), n, to);
    }
    if (p.durable && status.ok() && ::fsync(fd) != 0)
        status = system_failure(path_, "fsync failed");
    if (::close(fd) != 0 && status.ok()) status = system_failure(path_, "close failed");
    return status;
}

/// A new file, as a model's is. @param bytes  of a writer
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
    // Writers spread over the ranks in node order.
    const Topology& t = team_.topology();
    const int place = t.first[static_cast<std::size_t>(t.node)] + t.node_rank;
    int writer = -1;
    for (int w = 0; w < pattern.writers; ++w)
        if (static_cast<std::int64_t>(w) * team_.size() / pattern.writers == place) writer = w;
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
    return round({n, large, false, false}, std::min(most, room_ / n), passed);
}

Status Trial::measure(Pattern& p, double seconds) {
    const std::int64_t limit = std::min(most, room_ / p.writers);
    if (p.bytes == 0) p.bytes = std::min(least, limit);
    const double begin = now();
    for (bool more = true; more;) {
        double passed = 0;
        if (Status s = round(p, p.bytes, passed); !s.ok()) return s;
        p.rates.push_back(static_cast<double>(p.bytes * p.writers) / std::max(1e-9, passed));
        const double left = seconds - (now() - begin);
        // Rounds that are too short tell more of opening the file than of writing.
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
    double times[2] = {0, 0};  // to create and remove, to rename
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

/// 1, 2, 4, ... and all ranks.
std::vector<int> writer_counts(int ranks) {
    std::vector<int> counts;
    for (int n = 1; n < ranks; n *= 2) counts.push_back(n);
    counts.push_back(ranks);
    return counts;
}

}  // namespace

Status measure_folder(Team& team, const std::string& path, double seconds, Folder& folder) {
    folder.path = path;
    Trial trial(team, path);
    if (Status s = trial.find_room(); !s.ok()) return s;
    if (Status s = trial.warm_up(); !s.ok()) return s;
    if (Status s = trial.names(seconds / 40, folder); !s.ok()) return s;
    const std::vector<int> counts = writer_counts(team.size());
    std::vector<Pattern> patterns;
    for (const bool durable : {false, true})
        for (const int n : counts) patterns.push_back({n, large, durable, false});
    patterns.push_back({1, small, false, false});
    if (team.size() > 1) {
        patterns.push_back({2, odd, false, false});
        patterns.push_back({2, odd, false, true});
    }
    const double each = seconds * 0.9 / static_cast<double>(passes * patterns.size());
    for (int pass = 0; pass < passes; ++pass)
        for (Pattern& p : patterns) {
            if (Status s = trial.measure(p, each); !s.ok()) return s;
            if (&p == patterns.data()) folder.processor = std::min(1.0, trial.processor());
        }
    std::vector<double> rates;
    for (const Pattern& p : patterns) rates.push_back(p.rate());
    rates.push_back(folder.processor);
    team.world().broadcast(rates.data(), rates.size() * sizeof(double), 0);
    const auto n = static_cast<std::ptrdiff_t>(counts.size());
    folder.writers.assign(counts.begin(), counts.end());
    folder.rate.assign(rates.begin(), rates.begin() + n);
    folder.durable.assign(rates.begin() + n, rates.begin() + 2 * n);
    folder.processor = rates.back();
    const double* const rest = rates.data() + 2 * n;
    const auto bytes = static_cast<double>(small);
    folder.call = std::max(1e-7, bytes / rest[0] - bytes / folder.rate.front());
    if (team.size() > 1) folder.lock = std::max(0.0, 2.0 * odd / rest[2] - 2.0 * odd / rest[1]);
    return {};
}

}  // namespace thalweg::app
