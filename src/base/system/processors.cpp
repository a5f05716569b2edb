// SPDX-License-Identifier: Apache-2.0
#include "base/system/processors.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <fstream>

namespace thalweg::detail {

namespace {

/// Returns the number of whole processors that a quota grants; quota and period are in
/// microseconds. INT32_MAX if there is no limit.
int quota_of(double quota, double period) {
    if (quota <= 0 || period <= 0) return INT32_MAX;
    return static_cast<int>(std::clamp(quota / period, 1.0, 1e6));
}

/// Reads the processor quota of a control group, in version 2 of the hierarchy (unified) or in
/// version 1.
int quota_of_group(const std::string& folder, bool unified) {
    double quota = 0, period = 0;
    if (unified) {
        std::ifstream limit(folder + "/cpu.max");
        limit >> quota >> period;
    } else {
        std::ifstream(folder + "/cpu.cfs_quota_us") >> quota;
        std::ifstream(folder + "/cpu.cfs_period_us") >> period;
    }
    return quota_of(quota, period);
}

}  // namespace

ProcessorMask own_processors() {
    ProcessorMask mask{};
    constexpr std::size_t bits = 64;
    cpu_set_t set;
    CPU_ZERO(&set);
    const bool known = sched_getaffinity(0, sizeof set, &set) == 0;
    const std::size_t online = std::max(1L, sysconf(_SC_NPROCESSORS_ONLN));
    for (std::size_t i = 0; i < bits * mask.size() && i < CPU_SETSIZE; ++i)
        if (known ? CPU_ISSET(i, &set) != 0 : i < online)
            mask[i / bits] |= std::uint64_t(1) << (i % bits);
    return mask;
}

int count(const ProcessorMask& mask) {
    int n = 0;
    for (const std::int64_t word : mask) n += std::popcount(static_cast<std::uint64_t>(word));
    return n;
}

int processor_quota(const std::string& root) {
    int least = std::min(quota_of_group(root + "/sys/fs/cgroup", true),
                         quota_of_group(root + "/sys/fs/cgroup/cpu", false));
    std::ifstream groups(root + "/proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {
        const bool unified = line.rfind("0::", 0) == 0;
        const auto first = line.find(':'), second = line.find(':', first + 1);
        if (second == std::string::npos) continue;
        const std::string names = "," + line.substr(first + 1, second - first - 1) + ",";
        if (!unified && names.find(",cpu,") == std::string::npos) continue;
        const std::string top = root + "/sys/fs/cgroup" + (unified ? "" : "/cpu");
        std::string path = unified ? line.substr(3) : line.substr(second + 1);
        for (; path.size() > 1; path.resize(path.rfind('/')))
            least = std::min(least, quota_of_group(top + path, unified));
    }
    return least;
}

int model_threads() {
    const char* const text = std::getenv("OMP_NUM_THREADS");
    // If the variable is a list, atoi reads its first number, which belongs to the outermost level.
    return std::max(1, text == nullptr ? 1 : std::atoi(text));
}

}  // namespace thalweg::detail
