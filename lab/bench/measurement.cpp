// SPDX-License-Identifier: Apache-2.0
#include "measurement.hpp"

#include <malloc.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

namespace thalweg::bench {
namespace {

std::int64_t kilobytes(const std::string& line) {
    return std::strtoll(line.c_str() + line.find(':') + 1, nullptr, 10) * 1024;
}

bool starts_with(const std::string& line, const char* text) { return line.rfind(text, 0) == 0; }

}  // namespace

double now() {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double cpu_seconds() {
    rusage u{};
    getrusage(RUSAGE_SELF, &u);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    return seconds(u.ru_utime) + seconds(u.ru_stime);
}

std::int64_t voluntary_switches() {
    rusage u{};
    getrusage(RUSAGE_SELF, &u);
    return u.ru_nvcsw;
}

double cpu_seconds(const std::vector<pid_t>& processes) {
    double sum = 0;
    for (const pid_t process : processes) {
        clockid_t clock{};
        timespec t{};
        if (clock_getcpuclockid(process, &clock) == 0 && clock_gettime(clock, &t) == 0)
            sum += static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
    }
    return sum;
}

RankGroup::RankGroup(MPI_Comm comm) {
    MPI_Comm_dup(comm, &comm_);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &ranks_);
    MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node_);
    int node_rank = 0;
    MPI_Comm_rank(node_, &node_rank);
    MPI_Comm_size(node_, &node_ranks_);
    int leader = node_rank == 0 ? 1 : 0;
    MPI_Allreduce(&leader, &nodes_, 1, MPI_INT, MPI_SUM, comm_);
}

RankGroup::~RankGroup() {
    MPI_Comm_free(&node_);
    MPI_Comm_free(&comm_);
}

void RankGroup::wait(unsigned nap) const {
    MPI_Request request;
    MPI_Ibarrier(comm_, &request);
    for (;;) {
        int done = 0;
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (done) return;
        usleep(nap);
    }
}

double RankGroup::start() const {
    wait();
    // The instant must be late enough for the broadcast to reach ranks that have to wait for a
    // core.
    double instant = now() + 0.004 + 0.0005 * node_ranks_;
    MPI_Bcast(&instant, 1, MPI_DOUBLE, 0, node_);
    timespec until{};
    until.tv_sec = static_cast<time_t>(std::floor(instant));
    until.tv_nsec = static_cast<long>((instant - std::floor(instant)) * 1e9);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
    }
    return instant;
}

double RankGroup::max(double value) const {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, comm_);
    return value;
}

double RankGroup::sum(double value) const {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, comm_);
    return value;
}

std::string RankGroup::first_text(std::string text) const {
    int speaker = text.empty() ? ranks_ : rank_;
    MPI_Allreduce(MPI_IN_PLACE, &speaker, 1, MPI_INT, MPI_MIN, comm_);
    if (speaker == ranks_) return {};
    int length = static_cast<int>(text.size());
    MPI_Bcast(&length, 1, MPI_INT, speaker, comm_);
    text.resize(static_cast<std::size_t>(length));
    MPI_Bcast(text.data(), length, MPI_CHAR, speaker, comm_);
    return text;
}

void trim_memory() { malloc_trim(0); }

bool reset_peak() {
    std::FILE* f = std::fopen("/proc/self/clear_refs", "w");
    if (!f) return false;
    const bool written = std::fputs("5", f) >= 0;
    return std::fclose(f) == 0 && written;
}

Memory memory_now(bool with_shares) {
    Memory m;
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (starts_with(line, "VmHWM:")) m.peak = kilobytes(line);
        if (starts_with(line, "VmRSS:")) m.resident = kilobytes(line);
        if (starts_with(line, "RssFile:")) m.code = kilobytes(line);
        if (starts_with(line, "RssShmem:")) m.shared = kilobytes(line);
    }
    if (m.peak == 0) {
        rusage u{};
        getrusage(RUSAGE_SELF, &u);
        m.peak = static_cast<std::int64_t>(u.ru_maxrss) * 1024;
    }
    if (!with_shares) return m;
    m.shared_share = m.shared;
    std::ifstream rollup("/proc/self/smaps_rollup");
    for (std::string line; std::getline(rollup, line);)
        if (starts_with(line, "Pss_Shmem:")) m.shared_share = kilobytes(line);
    return m;
}

Growth growth(const Memory& before, const Memory& open, const Memory& after) {
    const std::int64_t code = std::max<std::int64_t>(0, after.code - before.code);
    const std::int64_t peak = std::max<std::int64_t>(0, after.peak - code - before.resident);
    const std::int64_t others =  // part of the shared pages that counts for other ranks
        (open.shared - before.shared) - (open.shared_share - before.shared_share);
    const std::int64_t fair = peak - (open.resident > 0 ? std::max<std::int64_t>(0, others) : 0);
    return {peak, std::max<std::int64_t>(0, fair)};
}

namespace {
std::atomic<bool> skipped{false};
}

void skip_fsync(bool skip) { skipped = skip; }

}  // namespace thalweg::bench

// Replaces fsync for the libraries of this program: definitions in a program take precedence over
// those in the C library. Parallel netCDF-4 flushes its files when it closes them and the other
// methods do not; a comparison must show how much time that takes.
extern "C" int fsync(int fd) {
    return thalweg::bench::skipped ? 0 : static_cast<int>(syscall(SYS_fsync, fd));
}
