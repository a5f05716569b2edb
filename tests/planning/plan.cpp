// Tests the choice of the best way to write a run, and of the number of writers: it differs from
// the library's own only if that is faster by a margin, and only for numbers that were measured.
// SPDX-License-Identifier: Apache-2.0
#include "plan/plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>

using namespace thalweg;
using namespace thalweg::planning;

namespace {

/// 64 ranks on two nodes of a parallel file system, 1 GB of levels by rows by columns.
class Plans : public testing::Test {
protected:
    Plans() {
        run.ranks = 64;
        run.nodes = 2;
        run.cores = 32;
        run.outputs = 1000;
        run.dimensions = {"z", "y", "x"};
        run.lengths = {64, 2048, 2048};
        run.grid = {{0, 2}, {1, 32}};
        run.variables.push_back({"T", 1, 4, {0, 1, 2}});
        EXPECT_TRUE(detail::file_system_named("lustre", run.file_system));
        run.machine.ranks = 64;  // makes the machine count as measured
        run.machine.message = 1e12;
        run.machine.pack = run.machine.pack_node = 1e12;
        run.folder = assumed_folder(run.file_system);
        run.folder.lock = 0;
        run.folder.node_rate = 0;
        run.folder.writers = {2, 4, 8, 16, 32, 64};
        by_writers(1e8);
    }
    /// Makes the rate proportional to the number of writers.
    void by_writers(double one) {
        run.folder.rate.clear();
        for (const double n : run.folder.writers) run.folder.rate.push_back(n * one);
        run.folder.durable = run.folder.rate;
    }
    Plan made() const { return make_plan(run, Shares(run)); }
    Option of(const std::string& method, const std::string& service = "inline") const {
        for (const Option& o : made().options)
            if (o.service == service && o.way.method == method && !o.way.own_files) return o;
        ADD_FAILURE() << service << " " << method;
        return {};
    }
    planning::Run run;
};

}  // namespace

TEST_F(Plans, MoreWritersWhereTheyAreFaster) {
    const double fast = of("record").outcome.calls;
    EXPECT_EQ(of("record").writers, "32/node");
    EXPECT_EQ(of("record").work.writers, 64);
    run.machine.ranks = 0;  // assumed figures are too inaccurate to choose by them
    EXPECT_EQ(of("record").writers, "");
    // Four writers per node take eight times as long.
    EXPECT_EQ(of("record").work.writers, 8);
    EXPECT_NEAR(of("record").outcome.calls / fast, 8, 1);
}

TEST_F(Plans, NothingForLessThanATwentieth) {
    run.folder.rate.assign(run.folder.writers.size(), 1e9);
    run.folder.rate.back() = 1.04e9;
    run.folder.durable = run.folder.rate;
    EXPECT_EQ(of("record").writers, "");
    run.folder.rate.back() = 1.08e9;
    EXPECT_EQ(of("record").writers, "32/node");
}

TEST_F(Plans, WhoPacksForTheWritersOfOneVariableAtATime) {
    // Steps that are too large to be copied as a whole are written variable by variable. The four
    // writers of a variable have adjacent parts of a level, which are held by the same rows of
    // ranks; the two variables with one level shift this a little.
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
    const Work all = shares.work_of({"record", false, "16/node"});
    EXPECT_NEAR(all.active, 4, 0.1);
    EXPECT_GT(all.packed, 1.2 * all.rank_bytes);
    // For each writer of rows, a row of ranks packs, so all ranks have the same work.
    const Work rows = shares.work_of({"rows", false, "16/node"});
    EXPECT_LT(rows.packed, 1.05 * rows.rank_bytes);
}

TEST_F(Plans, OnlyAsManyWritersAsWereMeasured) {
    run.folder.writers = {2, 4, 8, 16};
    by_writers(1e8);
    EXPECT_EQ(of("record").writers, "8/node");
    EXPECT_EQ(of("record", "background").writers, "8/node");
}

TEST_F(Plans, WritersStayWhereTheUserHasChosen) {
    run.writers = "2/node";
    EXPECT_EQ(of("record").writers, "");
    EXPECT_EQ(of("record").work.writers, 4);
}

TEST_F(Plans, AnotherMethodWhereMessagesAreSlow) {
    // Each node holds whole levels: slabs send nothing between nodes, record sends half of the
    // step.
    run.grid = {{0, 64}};
    run.variables.push_back({"U", 1, 4, {0, 1, 2}});
    run.machine.message = 1e7;
    EXPECT_LT(of("slabs").outcome.calls, 0.9 * of("record").outcome.calls);
}

TEST_F(Plans, TellsTheSettings) {
    using Settings = std::vector<std::pair<std::string, std::string>>;
    EXPECT_EQ(of("record").settings(),
              (Settings{{"service", "inline"}, {"method", "record"}, {"writers", "32/node"}}));
    EXPECT_EQ(of("serial", "background").settings(),
              (Settings{{"service", "background"}, {"method", "serial"}}));
    const Plan plan = made();
    EXPECT_EQ(plan.servers[plan.best_servers].settings().back(),
              std::pair(std::string("servers"),
                        std::to_string(plan.servers[plan.best_servers].way.servers)));
}
