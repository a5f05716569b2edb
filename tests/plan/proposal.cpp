// Method and writers by the cost model: only where they are faster by a margin, and only what was
// measured.
// SPDX-License-Identifier: Apache-2.0
#include "plan/proposal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "plan/shares.hpp"

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

TEST_F(Proposals, NothingForLessThanATwentieth) {
    asked.method = "record";
    run.folder.rate.assign(run.folder.writers.size(), 1e9);
    run.folder.rate.back() = 1.04e9;
    run.folder.durable = run.folder.rate;
    const Proposal p = propose(run, asked);
    EXPECT_EQ(p.method, "");
    EXPECT_EQ(p.writers, "");
    EXPECT_EQ(p.seconds, p.usual);
    run.folder.rate.back() = 1.08e9;
    EXPECT_EQ(propose(run, asked).writers, "32/node");
}

TEST_F(Proposals, WhatTwoComparisonsGiveUpIsATenthAtMost) {
    // Whatever the curve of the writers is.
    asked.method = "auto";
    asked.direct = true;
    for (const double part : {0.6, 0.8, 0.9, 0.95, 1.0}) {
        for (std::size_t i = 0; i < run.folder.rate.size(); ++i)
            run.folder.rate[i] = 1e9 * std::pow(run.folder.writers[i], 1 - part);
        run.folder.durable = run.folder.rate;
        const Shares shares(run);
        const auto seconds = [&](const Way& way) {
            return detail::inline_outcome(
                       detail::cost_of(run.machine, run.folder, shares.work_of(way)), 0)
                .calls;
        };
        double least = seconds({"direct"});
        for (const char* method : {"record", "slabs"})
            for (const int n : {1, 2, 4, 8, 16, 32})
                least = std::min(least, seconds({method, false, fmt::format("{}/node", n)}));
        EXPECT_LE(propose(run, asked).seconds, 1.11 * least) << part;
    }
}

TEST_F(Proposals, WhoPacksForTheWritersOfOneVariableAtATime) {
    // Steps that are too large to be copied whole go variable by variable. The four writers of one
    // have parts of a level one after another, which the same rows of ranks hold; the two variables
    // of one level shift this a little.
    run.ranks = 16;
    run.nodes = 1;
    run.cores = 16;
    run.grid = {{1, 4}, {2, 4}};
    run.lengths = {40, 240, 360};
    run.variables = {{"3d", 4, 4, {0, 1, 2}}, {"2d", 3, 4, {1, 2}}};
    run.stripe_size = 4096;
    run.limits.piece = 20736;
    run.limits.staging = 1 << 20;
    const Shares shares(run);
    const detail::Work all = shares.work_of({"record", false, "16/node"});
    EXPECT_NEAR(all.active, 4, 0.1);
    EXPECT_GT(all.packed, 1.2 * all.rank_bytes);
    // A row of ranks packs for each writer of rows, so that all have as much to do.
    const detail::Work rows = shares.work_of({"rows", false, "16/node"});
    EXPECT_LT(rows.packed, 1.05 * rows.rank_bytes);
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
