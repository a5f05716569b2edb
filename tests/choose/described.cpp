// What the cost model is told of a file: which grid of ranks holds it, from what the ranks combine.
// SPDX-License-Identifier: Apache-2.0
#include "choose/described.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "decomposition/listed.hpp"
#include "support/given.hpp"

using namespace thalweg::detail;

namespace {

/// A record variable over (z, y, x) of 8 x 12 x 16, which each rank holds in its own way.
class Described : public testing::Test {
protected:
    static Definitions holding(Decomposition decomposition) {
        Definitions definitions;
        definitions.dims = {{"t", TW_UNLIMITED}, {"z", 8}, {"y", 12}, {"x", 16}};
        Variable v;
        v.name = "T";
        v.type = TW_FLOAT;
        v.record = true;
        v.dims = {0, 1, 2, 3};
        v.shape = {8, 12, 16};
        v.order = {0, 1, 2};
        v.decomposition = std::make_shared<Decomposition>(std::move(decomposition));
        definitions.variables.push_back(v);
        return definitions;
    }
    static Definitions block(const Numbers& low, const Numbers& count) {
        return holding(given({"z", "y", "x"}, {8, 12, 16}, {box_of(low, count)}));
    }
    /// @param definitions  of each rank
    static Held held_by_all(const std::vector<Definitions>& definitions) {
        const auto ranks = static_cast<int>(definitions.size());
        std::vector<std::int64_t> most = held_words(definitions[0], 0, ranks);
        for (int r = 1; r < ranks; ++r) {
            const auto words = held_words(definitions[static_cast<std::size_t>(r)], r, ranks);
            for (std::size_t i = 0; i < most.size(); ++i) most[i] = std::max(most[i], words[i]);
        }
        return held_of(definitions[0], most, ranks);
    }
    static std::vector<std::pair<int, std::int64_t>> grid_of(const Held& held) {
        std::vector<std::pair<int, std::int64_t>> grid;
        for (const auto& cut : held.grid) grid.emplace_back(cut.dim, cut.parts);
        return grid;
    }
};

using Parts = std::vector<std::pair<int, std::int64_t>>;

}  // namespace

TEST_F(Described, AGridOfRanksInEitherOrder) {
    std::vector<Definitions> rows_first, columns_first;
    for (int r = 0; r < 12; ++r) {
        rows_first.push_back(block({0, 4 * (r / 4), 4 * (r % 4)}, {8, 4, 4}));
        columns_first.push_back(block({0, 4 * (r % 3), 4 * (r / 3)}, {8, 4, 4}));
    }
    Held held = held_by_all(rows_first);
    EXPECT_TRUE(held.regular);
    EXPECT_EQ(grid_of(held), (Parts{{2, 3}, {3, 4}}));
    EXPECT_EQ(held.list_run, 0);
    held = held_by_all(columns_first);
    EXPECT_TRUE(held.regular);
    EXPECT_EQ(grid_of(held), (Parts{{3, 4}, {2, 3}}));
}

TEST_F(Described, OneDimensionIsCut) {
    std::vector<Definitions> ranks;
    for (int r = 0; r < 8; ++r) ranks.push_back(block({r, 0, 0}, {1, 12, 16}));
    const Held held = held_by_all(ranks);
    EXPECT_TRUE(held.regular);
    EXPECT_EQ(grid_of(held), (Parts{{1, 8}}));
}

TEST_F(Described, NothingIsKnownOfSeveralBlocksOrOfOneRank) {
    std::vector<Definitions> ranks;
    for (int r = 0; r < 4; ++r) ranks.push_back(block({2 * r, 0, 0}, {2, 12, 16}));
    EXPECT_TRUE(held_by_all(ranks).regular);
    ranks[3] = holding(given({"z", "y", "x"}, {8, 12, 16},
                             {box_of({6, 0, 0}, {1, 12, 16}), box_of({7, 0, 0}, {1, 12, 16})}));
    EXPECT_FALSE(held_by_all(ranks).regular);
    EXPECT_FALSE(held_by_all({block({0, 0, 0}, {8, 12, 16})}).regular);
}

TEST_F(Described, ListsGoByTheirShortestRuns) {
    std::vector<Definitions> ranks;
    for (int r = 0; r < 4; ++r) {
        auto list = std::make_shared<IndexList>();
        for (int i = 0; i < 12; ++i)  // of 4 elements, but of 2 on the last rank
            list->runs.emplace_back(16 * i + 4 * r, 4 * i, r == 3 ? 2 : 4);
        list->elements = r == 3 ? 24 : 48;
        Decomposition d = given({"z", "y", "x"}, {8, 12, 16});
        auto listed = std::make_shared<Listed>();
        listed->first = 1;
        listed->count = 2;
        listed->length = list->elements;
        listed->list = list;
        d.listed = listed;
        d.held = 8 * list->elements;
        ranks.push_back(holding(std::move(d)));
    }
    const Held held = held_by_all(ranks);
    EXPECT_TRUE(held.regular);
    EXPECT_NEAR(held.list_run, 2, 1e-9);
    EXPECT_EQ(grid_of(held), (Parts{{3, 4}}));
}

TEST_F(Described, TheRunIsDescribedWhereTheMachineWasMeasured) {
    std::vector<Definitions> ranks;
    for (int r = 0; r < 4; ++r) ranks.push_back(block({2 * r, 0, 0}, {2, 12, 16}));
    const Held held = held_by_all(ranks);
    Machine machine;
    machine.ranks = machine.cores = 4;
    machine.nodes = 1;
    Folder folder;
    folder.path = "/scratch";
    folder.file_system = "lustre";
    folder.writers = {1, 2, 4};
    folder.rate = folder.durable = {1e6, 2e6, 4e6};
    machine.folders = {folder};
    Surroundings around;
    around.ranks = 4;
    around.folder = "/scratch/run";
    FileOptions options;
    EXPECT_FALSE(asks_cost_model(options, Format::cdf1, around));
    around.machine = &machine;
    EXPECT_TRUE(asks_cost_model(options, Format::cdf1, around));
    EXPECT_FALSE(asks_cost_model(options, Format::netcdf4, around));
    thalweg::planning::Run run;
    ASSERT_TRUE(describe_run(options, ranks[0], around, held, run));
    EXPECT_EQ(run.ranks, 4);
    EXPECT_EQ(run.lengths, (std::vector<std::int64_t>{1, 8, 12, 16}));
    ASSERT_EQ(run.variables.size(), 1);
    EXPECT_EQ(run.variables[0].dims, (std::vector<int>{1, 2, 3}));
    EXPECT_EQ(run.folder.path, "/scratch");
    // Another folder, another number of nodes, settings that leave nothing open, servers that
    // write.
    around.folder = "/elsewhere";
    around.file_system.name = "ext4";
    EXPECT_FALSE(describe_run(options, ranks[0], around, held, run));
    around.folder = "/scratch";
    machine.nodes = 2;
    EXPECT_FALSE(asks_cost_model(options, Format::cdf1, around));
    machine.nodes = 1;
    options.method = "rows";
    EXPECT_TRUE(asks_cost_model(options, Format::cdf1, around));
    options.writers = "2";
    EXPECT_FALSE(asks_cost_model(options, Format::cdf1, around));
    options.method = "auto";
    EXPECT_TRUE(asks_cost_model(options, Format::cdf1, around));
    around.servers = true;
    options.service = "auto";
    EXPECT_FALSE(asks_cost_model(options, Format::cdf1, around));
    options.service = "inline";
    EXPECT_TRUE(asks_cost_model(options, Format::cdf1, around));
}
