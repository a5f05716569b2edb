// Method and writers by the cost model: only where they are faster by a margin, and only what was
// measured.
// SPDX-License-Identifier: Apache-2.0
#include "plan/proposal.hpp"

#include <gtest/gtest.h>

using namespace thalweg;
using namespace thalweg::planning;

namespace {

/// 64 ranks on two nodes of a parallel file system, 1 GB of levels by rows by columns.
class Proposals : public testing::Test {
protected:
    Proposals() {
        run.ranks = 64;
        run.nodes = 2;
        run.cores = 32;
        run.outputs = 1000;
        run.dimensions = {"z", "y", "x"};
        run.lengths = {64, 2048, 2048};
        run.grid = {{0, 2}, {1, 32}};
        run.variables.push_back({"T", 1, 4, {0, 1, 2}});
        EXPECT_TRUE(detail::file_system_named("lustre", run.file_system));
        run.machine = {};
        run.machine.message = 1e12;
        run.machine.pack = run.machine.pack_node = 1e12;
        run.folder = detail::assumed_folder(run.file_system);
        run.folder.lock = 0;
        run.folder.node_rate = 0;
        run.folder.writers = {2, 4, 8, 16, 32, 64};
        by_writers(1e8);
    }
    /// Twice as many writers are twice as fast.
    void by_writers(double one) {
        run.folder.rate.clear();
        for (const double n : run.folder.writers) run.folder.rate.push_back(n * one);
        run.folder.durable = run.folder.rate;
    }
    planning::Run run;
    Asked asked;
};

}  // namespace

TEST_F(Proposals, MoreWritersWhereTheyAreFaster) {
    asked.method = "record";
    const Proposal p = propose(run, asked);
    EXPECT_EQ(p.method, "");
    EXPECT_EQ(p.writers, "32/node");
    // Four a node take eight times as long.
    EXPECT_NEAR(p.usual / p.seconds, 8, 1);
}

TEST_F(Proposals, NothingForLessThanATenth) {
    asked.method = "record";
    run.folder.rate.assign(run.folder.writers.size(), 1e9);
    run.folder.rate.back() = 1.05e9;
    run.folder.durable = run.folder.rate;
    const Proposal p = propose(run, asked);
    EXPECT_EQ(p.method, "");
    EXPECT_EQ(p.writers, "");
    EXPECT_EQ(p.seconds, p.usual);
}

TEST_F(Proposals, OnlyAsManyWritersAsWereMeasured) {
    asked.method = "record";
    run.folder.writers = {2, 4, 8, 16};
    by_writers(1e8);
    EXPECT_EQ(propose(run, asked).writers, "8/node");
}

TEST_F(Proposals, NoMethodWithMoreWritersThanWereMeasured) {
    // Each process row holds its part of each level, so that rows send nothing.
    run.grid = {{1, 64}};
    run.variables.push_back({"U", 1, 4, {0, 1, 2}});
    run.machine.message = 1e6;
    EXPECT_EQ(propose(run, asked).method, "rows");
    run.folder.writers = {2, 4, 8};
    by_writers(1e8);
    EXPECT_NE(propose(run, asked).method, "rows");  // has 64 writers
}

TEST_F(Proposals, TheLastOneIsNotTakenForAnother) {
    asked.method = "record";
    LastProposal last;
    const Proposal* const first = &last.of(run, asked);
    EXPECT_EQ(first->writers, "32/node");
    EXPECT_EQ(last.of(run, asked).writers, "32/node");
    run.folder.writers = {2, 4, 8, 16};
    by_writers(1e8);
    EXPECT_EQ(last.of(run, asked).writers, "8/node");
    asked.writers_open = false;
    EXPECT_EQ(last.of(run, asked).writers, "");
}

TEST_F(Proposals, WritersStayWhereTheUserHasChosen) {
    asked.method = "record";
    asked.writers_open = false;
    run.writers = "2/node";
    const Proposal p = propose(run, asked);
    EXPECT_EQ(p.writers, "");
    EXPECT_EQ(p.method, "");
}

TEST_F(Proposals, AnotherMethodWhereMessagesAreSlow) {
    // The levels of a node are on it, so that slabs send nothing; record sends half of the step.
    run.grid = {{0, 64}};
    run.variables.push_back({"U", 1, 4, {0, 1, 2}});
    run.machine.message = 1e7;
    const Proposal p = propose(run, asked);
    EXPECT_EQ(p.method, "slabs");
    EXPECT_LT(p.seconds, 0.9 * p.usual);
    asked.method = "record";
    EXPECT_EQ(propose(run, asked).method, "");
}

TEST_F(Proposals, EachRankItsOwnArraysWhereTheServiceStaysInline) {
    // Blocks that are contiguous in the file and end with its blocks.
    run.grid = {{0, 64}};
    run.machine.pack = run.machine.pack_node = 1e7;
    run.machine.message = 1e7;
    asked.direct = true;
    const std::string method = propose(run, asked).method;
    EXPECT_TRUE(method == "direct" || method == "slabs") << method;
    asked.direct = false;
    EXPECT_NE(propose(run, asked).method, "direct");
}

TEST_F(Proposals, ListsHaveNoRows) {
    run.grid = {{2, 64}};
    run.list_run = 4;
    run.machine.message = 1e7;
    asked.direct = true;
    const std::string method = propose(run, asked).method;
    EXPECT_TRUE(method.empty() || method == "slabs") << method;
}
