// Tests the number of processors that a process may use, and a container's quota.
// SPDX-License-Identifier: Apache-2.0
#include "base/system/processors.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace thalweg::detail;

namespace {

/// A folder that takes the place of the root folder and contains files of control groups.
class Quota : public testing::Test {
protected:
    Quota() { std::filesystem::remove_all(root_); }
    ~Quota() override { std::filesystem::remove_all(root_); }
    void write(const std::string& path, const std::string& text) {
        const std::filesystem::path file = root_ + path;
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file) << text << "\n";
    }
    int quota() const { return processor_quota(root_); }

private:
    std::string root_ = "processors_" + std::to_string(getpid());
};

}  // namespace

TEST_F(Quota, NoneIsNoLimit) {
    EXPECT_EQ(quota(), INT32_MAX);
    write("/sys/fs/cgroup/cpu.max", "max 100000");
    EXPECT_EQ(quota(), INT32_MAX);
}

TEST_F(Quota, TheLeastOfAGroupAndThoseThatContainIt) {
    write("/proc/self/cgroup", "0::/job/step");
    write("/sys/fs/cgroup/job/cpu.max", "350000 100000");
    EXPECT_EQ(quota(), 3);
    write("/sys/fs/cgroup/job/step/cpu.max", "200000 100000");
    EXPECT_EQ(quota(), 2);
    write("/sys/fs/cgroup/cpu.max", "50000 100000");
    EXPECT_EQ(quota(), 1);  // half a processor counts as one
}

TEST_F(Quota, OfTheOlderHierarchy) {
    write("/proc/self/cgroup", "5:memory:/a\n4:cpu,cpuacct:/job");
    write("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "400000");
    write("/sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000");
    EXPECT_EQ(quota(), 4);
    write("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1");
    EXPECT_EQ(quota(), INT32_MAX);
}

TEST(Processors, AreThoseOfTheMask) {
    cpu_set_t before, one;
    CPU_ZERO(&before);
    ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    EXPECT_EQ(count(own_processors()), CPU_COUNT(&before));
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++i)
        if (CPU_ISSET(i, &before)) CPU_SET(i, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(count(own_processors()), 1);
    sched_setaffinity(0, sizeof before, &before);
}

TEST(Processors, ThreadsOfTheModel) {
    unsetenv("OMP_NUM_THREADS");
    EXPECT_EQ(model_threads(), 1);
    setenv("OMP_NUM_THREADS", "4,2", 1);
    EXPECT_EQ(model_threads(), 4);
    setenv("OMP_NUM_THREADS", "none", 1);
    EXPECT_EQ(model_threads(), 1);
    unsetenv("OMP_NUM_THREADS");
}
