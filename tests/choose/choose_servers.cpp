// Tests servers=auto with different file systems, ranks and nodes.
// SPDX-License-Identifier: Apache-2.0
#include "choose/choose.hpp"

#include <gtest/gtest.h>

using namespace thalweg::detail;

namespace {

FileSystem named(const char* name) {
    FileSystem system;
    EXPECT_TRUE(file_system_named(name, system));
    return system;
}

}  // namespace

TEST(ChooseServers, OneOfSixteenRanksAtMost) {
    for (const char* name : {"ext4", "nfs", "lustre"}) {
        const auto number = [&](int ranks, int nodes) {
            return choose_servers(named(name), ranks, nodes).number;
        };
        EXPECT_EQ(number(1, 1), 0);
        EXPECT_EQ(number(2, 1), 1);
        EXPECT_EQ(number(3, 3), 1);
        EXPECT_EQ(number(31, 1), 1);
        EXPECT_EQ(number(64, 64), 4);
        for (int ranks = 1; ranks < 100; ++ranks)
            for (int nodes = 1; nodes <= ranks; ++nodes) {
                EXPECT_LE(number(ranks, nodes), std::max(1, ranks / 16));
                EXPECT_EQ(number(ranks, nodes) > 0, ranks > 1);
            }
    }
    EXPECT_EQ(choose_servers(named("ext4"), 64, 64).why,
              "at most one rank of 16 serves, of 64 ranks on 64 nodes");
}

TEST(ChooseServers, OneOnEachNodeOfALocalFileSystem) {
    const ServerChoice choice = choose_servers(named("ext4"), 4096, 16);
    EXPECT_EQ(choice.number, 16);
    EXPECT_EQ(choice.why, "one on each node (16)");
    EXPECT_EQ(choose_servers(named("nfs"), 64, 1).number, 1);
}

TEST(ChooseServers, MoreOnFewNodesOfAParallelFileSystem) {
    const ServerChoice choice = choose_servers(named("lustre"), 4096, 32);
    EXPECT_EQ(choice.number, 64);
    EXPECT_EQ(choice.why,
              "2 on each of 32 nodes: file system lustre serves several writers of a node");
    EXPECT_EQ(choose_servers(named("lustre"), 64, 4).number, 4);
    EXPECT_EQ(choose_servers(named("lustre"), 4096, 64).number, 64);
    EXPECT_EQ(choose_servers(named("lustre"), 16384, 128).number, 128);
}
