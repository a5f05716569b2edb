// SPDX-License-Identifier: Apache-2.0
#include "simulation/disk.hpp"

#include <cerrno>

#include "simulation/scheduler.hpp"

namespace simulation {

Disk disk;

int Disk::begin(DiskCall call, std::int64_t bytes) {
    double takes = seconds + static_cast<double>(bytes) / rate;
    if (call == DiskCall::read) {
        scheduler->pass(takes);
        return 0;
    }
    const std::int64_t number = calls++;
    if (number >= slow_from && number < slow_until) takes += slow_seconds;
    scheduler->pass(takes);
    if (fails_at >= 0 && number >= fails_at && number < fails_until) {
        ++failed;
        return error;
    }
    if (call == DiskCall::write) {
        if (capacity >= 0 && written + bytes > capacity) {
            ++failed;
            return ENOSPC;
        }
        written += bytes;
    }
    return 0;
}

}  // namespace simulation
