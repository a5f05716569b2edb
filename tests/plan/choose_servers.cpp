// servers=auto: with the description of a run, and without.
// SPDX-License-Identifier: Apache-2.0
#include "plan/choose_servers.hpp"

#include <gtest/gtest.h>

using namespace thalweg;
using namespace thalweg::planning;

namespace {

/// 64 ranks on two nodes, 4 GB after each 100 s of computing.
class Servers : public testing::Test {
protected:
    Servers() {
        run.file = "run.toml";
        run.ranks = 64;
        run.nodes = 2;
        run.cores = 32;
        run.step_seconds = 100;
        run.outputs = 10;
        run.dimensions = {"y", "x"};
        run.lengths = {32768, 32768};
        run.grid = {{0, 8}, {1, 8}};
        run.variables.push_back({"T", 1, 4, {0, 1}});
        EXPECT_TRUE(detail::file_system_named("lustre", run.file_system));
        run.folder = detail::assumed_folder(run.file_system);
        // 400 s for each output by one writer, and no more than twice that rate.
        run.folder.node_rate = 0;
        run.folder.writers = {1, 2};
        run.folder.rate = run.folder.durable = {1e7, 2e8};
    }
    planning::Run run;
};

}  // namespace

TEST_F(Servers, AsManyAsThePlanFindsBest) {
    const ServerChoice choice = choose_servers(run, 64, 2);
    EXPECT_EQ(choice.number, 2);
    EXPECT_NE(choice.why.find("by the plan of run.toml the run takes"), std::string::npos)
        << choice.why;
    run.cores = 48;  // on which no ranks were started
    EXPECT_EQ(choose_servers(run, 64, 2).number, 2);
}

TEST_F(Servers, NoneWhereTheyDoNotPay) {
    run.step_seconds = 1e6;
    const ServerChoice choice = choose_servers(run, 64, 2);
    EXPECT_EQ(choice.number, 0);
    EXPECT_EQ(choice.why, "servers do not pay, by the plan of run.toml");
}

TEST_F(Servers, RanksBesideThoseDescribedServe) {
    const ServerChoice choice = choose_servers(run, 67, 3);
    EXPECT_EQ(choice.number, 3);
    EXPECT_EQ(choice.why, "run.toml describes 64 ranks, and 67 were started");
}

TEST_F(Servers, ADescriptionOfMoreRanksIsOfNoUse) {
    const ServerChoice choice = choose_servers(run, 48, 2);
    EXPECT_EQ(choice.number, 2);
    EXPECT_NE(choice.why.find("describes 64 ranks, so it is of no use for 48"), std::string::npos)
        << choice.why;
}

TEST_F(Servers, WithoutADescription) {
    const auto number = [&](int ranks, int nodes) {
        return choose_servers(run.folder, ranks, nodes).number;
    };
    EXPECT_EQ(number(1, 1), 0);
    EXPECT_EQ(number(2, 1), 1);
    EXPECT_EQ(number(3, 3), 1);
    EXPECT_EQ(number(64, 64), 4);  // one rank of 16
    EXPECT_EQ(number(64, 1), 2);   // two reach the rate
    EXPECT_EQ(number(64, 4), 4);   // one on each node
    EXPECT_EQ(number(4096, 64), 64);
    run.folder.writers = {1, 100};
    run.folder.rate = {1e7, 1e9};
    EXPECT_EQ(number(4096, 64), 128);
    EXPECT_EQ(number(31, 1), 1);
    for (int ranks = 1; ranks < 100; ++ranks)
        for (int nodes = 1; nodes <= ranks; ++nodes) {
            EXPECT_LT(number(ranks, nodes), ranks);
            EXPECT_EQ(number(ranks, nodes) > 0, ranks > 1);
        }
}
