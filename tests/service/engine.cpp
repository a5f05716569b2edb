// Tests the engine in one process, with threads as ranks and servers and a file in memory or on
// disk. Random batches of boxes and lists, with every method and service, are compared with plain
// arrays.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "service/engine_rank.hpp"

using namespace thalweg::detail;

namespace {

std::shared_ptr<std::vector<char>> memory_for(const Case& c) {
    return std::make_shared<std::vector<char>>(static_cast<std::size_t>(c.file_bytes()),
                                               MemoryStorage::untouched);
}

class Engine : public testing::Test {
protected:
    void SetUp() override {
        std::string name = testing::TempDir() + "thalweg_engine_XXXXXX";
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        folder_ = name;
    }
    void TearDown() override {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }

    /// Puts the file of a case on disk, and makes it as tw_create does. It cannot be in memory,
    /// because servers make their own storage.
    void use_file(Case& c) const {
        c.path = folder_ + "/file.nc";
        EXPECT_TRUE(std::ofstream(c.path).good());
    }

    static void run_and_compare(const Case& c, std::uint64_t seed, void (Rank::*act)()) {
        const auto bytes = memory_for(c);
        Expected expected(c);
        run_ranks(c, seed, bytes, [&](Rank& rank) {
            (rank.*act)();
            if (rank.is_first()) expected = rank.expected();
        });
        compare(c, expected, *bytes);
    }

    void run_case(std::uint64_t seed) const {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random random(mix(seed));
        Case c(random);
        if (random.percent(35)) c.pack(random);
        if (c.servers > 0 || c.packed() || random.percent(20)) use_file(c);
        run_and_compare(c, seed, &Rank::run);
    }

    std::string folder_;
};

}  // namespace

TEST_F(Engine, RandomBatchesOnThreads) {
    const char* more = std::getenv("THALWEG_ENGINE_CASES");
    const std::uint64_t cases = more != nullptr ? std::strtoull(more, nullptr, 10) : 300;
    const char* from = std::getenv("THALWEG_ENGINE_SEED");
    const std::uint64_t first = from != nullptr ? std::strtoull(from, nullptr, 10) : 0;
    for (std::uint64_t seed = first; seed < first + cases && !HasFailure(); ++seed) run_case(seed);
}

// In this case two writers put compressed chunks side by side at the end of the file, and one of
// them is then rewritten with the same length. Their order depends on time.
TEST_F(Engine, ALastChunkStaysIfTheOneBeforeItIsReplaced) {
    for (int i = 0; i < 12 && !HasFailure(); ++i) run_case(4816);
}

// A call that exceeds what a rank may put in a step must have no effect; everything else is
// written.
TEST_F(Engine, ARefusedBoxLeavesNothing) {
    for (const char* service : {"inline", "background"}) {
        Random random(1);
        Case c(random);
        c.ranks = 2;
        c.node_size = 1;
        c.options.service = service;
        c.options.method = c.layout.method = "record";
        c.options.staging = 1 << 16;
        c.options.queue = 1 << 16;
        c.servers = 0;
        c.layout.writers = 2;
        c.writers = {1, 0};
        Plan plan;
        plan.add("v", TW_DOUBLE, {20000}, false);
        c.use(plan);
        const auto bytes = memory_for(c);
        run_ranks(c, 1, bytes, [&](Rank& rank) {
            if (rank.is_first()) {
                const std::vector<double> values(15000, 7.0);
                const std::int64_t start = 0, large = 15000, small = 10;
                EXPECT_EQ(rank.parts()
                              .put_box("v", {TW_DOUBLE, &start, &large, nullptr, values.data()})
                              .code,
                          TW_ENOMEM);
                EXPECT_TRUE(rank.parts()
                                .put_box("v", {TW_DOUBLE, &start, &small, nullptr, values.data()})
                                .ok());
            }
            EXPECT_TRUE(rank.service().end_step().ok());
            rank.close();
        });
        Expected expected(c);
        for (std::int64_t e = 0; e < 10; ++e)
            expected.put(0, c.plan.definitions.variables[0], 0, e, 7.0);
        compare(c, expected, *bytes);
    }
}

// Writers take long runs from the copies of all ranks.
TEST_F(Engine, RunsOfSomeKilobytes) {
    for (std::uint64_t seed = 0; seed < 60 && !HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random random(mix(seed));
        Case c(random);
        c.options.service = "inline";
        c.options.staging = 1 << 24;
        c.servers = c.node_size = 0;
        c.choose_writers(random);
        c.use(random_plan(random, 6, 128));
        run_and_compare(c, seed, &Rank::run);
    }
}

// Records are written by a plan, even in a file whose tw_put is collective.
TEST_F(Engine, RecordsWhereStepsAreTooLarge) {
    for (std::uint64_t seed = 0; seed < 24 && !HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random random(mix(seed));
        Case c(random);
        c.options.service = "inline";
        c.servers = 0;
        c.choose_writers(random);
        c.options.staging = 1 << 14;
        Plan plan;
        plan.add("large", TW_DOUBLE, {20000}, true);
        plan.add("v", TW_FLOAT, {7, 5}, true);
        plan.add("w", TW_DOUBLE, {4, 9}, true);
        plan.add("fixed", TW_SHORT, {11}, false);
        c.use(plan);
        if (random.percent(35)) c.pack(random);
        if (c.packed()) use_file(c);
        run_and_compare(c, seed, &Rank::run_immediate);
    }
}
