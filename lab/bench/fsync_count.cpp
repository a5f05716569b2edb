// Replaces fsync and fdatasync for the libraries of this program: counts, times and, on request,
// skips them. Parallel netCDF-4 flushes its files when it closes them and the other methods do not;
// a comparison must show how much time that takes.
// SPDX-License-Identifier: Apache-2.0
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "measurement.hpp"

namespace {

std::atomic<std::int64_t> calls{0};
std::atomic<double> seconds{0};
std::atomic<bool> skipped{false};

int counted(long number, int fd) {
    ++calls;
    if (skipped) return 0;
    const double start = thalweg::bench::now();
    const long status = syscall(number, fd);
    seconds.fetch_add(thalweg::bench::now() - start);
    return static_cast<int>(status);
}

}  // namespace

// Definitions in a program take precedence over those in the C library.
extern "C" {
int fsync(int fd) { return counted(SYS_fsync, fd); }
int fdatasync(int fd) { return counted(SYS_fdatasync, fd); }
}

namespace thalweg::bench {

Fsyncs fsyncs() { return {calls, seconds}; }
void skip_fsync(bool skip) { skipped = skip; }

}  // namespace thalweg::bench
