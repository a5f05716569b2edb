// SPDX-License-Identifier: Apache-2.0
#include "service/node_copies.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <vector>

#include "service/resources.hpp"
#include "support/threads.hpp"
#include "system/random.hpp"

using namespace thalweg::detail;

namespace {

constexpr std::int64_t mb = 1 << 20;

/// Calls act(rank, resources, context of a file) on each of several ranks of a node.
template <class Act>
void on_node(int ranks, Act&& act) {
    on_threads(ranks, [&](std::unique_ptr<Comm> comm) {
        Status status;
        const auto team = Team::make(std::move(comm), 0, status);
        Resources resources(*team, mb);
        FileOptions options;
        options.staging = 16 * mb;
        FileContext file(*team, resources, "file.nc", 1, options);
        act(team->rank(), resources, file);
    });
}

}  // namespace

TEST(NodeCopies, BlocksStayUntilTheyAreGivenBack) {
    const auto memory = make_private_memory(4 * mb);
    StagingMemory blocks;
    blocks.use(memory.get(), 0, 4 * mb);
    char* const first = blocks.take(3 * mb);
    char* const second = blocks.take(3 * mb);  // beyond the memory
    EXPECT_EQ(first, memory->data());
    first[0] = second[3 * mb - 1] = 1;
    EXPECT_EQ(blocks.take(100), first + 3 * mb);
    EXPECT_EQ(blocks.bytes(), 7 * mb);
    blocks.give_back();
    EXPECT_EQ(blocks.take(3 * mb), first);
    EXPECT_EQ(blocks.bytes(), 4 * mb);
    blocks.undo(blocks.take(3 * mb));  // beyond the memory again
    EXPECT_EQ(blocks.bytes(), 4 * mb);
}

// Units are written in order, but later than they are published: until then, their values stay.
TEST(NodeCopies, BlocksStayWhileUnitsReferToThem) {
    struct Units : ReferringUnits {
        std::int64_t made = 0, ended = 0;
        bool open = false;
        bool refers() const override { return open; }
        std::int64_t published() const override { return made; }
        std::int64_t written() const override { return ended; }
    } units;
    struct Block {
        char* at;
        std::int64_t bytes;
    };
    const auto memory = make_private_memory(mb / 2);
    std::deque<std::vector<Block>> waiting;  // of the units that are not written
    Random random(1);
    StagingMemory blocks;
    blocks.use(memory.get(), 4096, mb / 2);
    blocks.serve(&units);
    std::int64_t outside = 0;
    const auto write_unit = [&] {
        for (const Block& b : waiting.front())
            EXPECT_EQ(std::count(b.at, b.at + b.bytes, static_cast<char>(units.ended)), b.bytes);
        waiting.pop_front();
        ++units.ended;
    };
    for (int turn = 0; turn < 4000 && !HasFailure(); ++turn) {
        std::vector<Block> unit;
        for (std::int64_t n = random.between(1, 6); n > 0; --n) {
            const std::int64_t bytes = random.between(1, 60000);
            char* const at = blocks.take(bytes, 8);
            std::fill_n(at, bytes, static_cast<char>(units.made));
            const bool inside = at >= memory->data() && at < memory->data() + mb / 2;
            if (inside) unit.push_back({at, bytes});
            outside += inside ? 0 : 1;
            if (!waiting.empty() && random.percent(20)) write_unit();
        }
        units.open = random.percent(10);
        if (units.open) blocks.give_back();  // frees nothing
        units.open = false;
        waiting.push_back(std::move(unit));
        ++units.made;
        blocks.give_back();
        while (!waiting.empty() && (std::ssize(waiting) > 5 || random.percent(30))) write_unit();
    }
    EXPECT_GT(outside, 0);
    EXPECT_LT(outside, 1000);
}

// Memory that is free again is used before more is touched.
TEST(NodeCopies, WrittenBlocksAreUsedAgain) {
    struct Units : ReferringUnits {
        std::int64_t made = 0;
        bool refers() const override { return false; }
        std::int64_t published() const override { return made; }
        std::int64_t written() const override { return made - 1; }  // one unit waits
    } units;
    const auto memory = make_private_memory(64 * mb);
    StagingMemory blocks;
    blocks.use(memory.get(), 0, 64 * mb);
    blocks.serve(&units);
    for (int turn = 0; turn < 100; ++turn) {
        for (int i = 0; i < 4; ++i) {
            const std::ptrdiff_t at = blocks.take(mb) - memory->data();
            EXPECT_TRUE(at >= 0 && at < 16 * mb) << at;
        }
        ++units.made;
        blocks.give_back();
    }
}

TEST(NodeCopies, TheNextFileHasTheMemory) {
    on_node(3, [](int, Resources& resources, FileContext& file) {
        const auto first = std::make_shared<NodeCopies>(), next = std::make_shared<NodeCopies>();
        first->begin(file.team, resources, mb, 16 * mb);
        const char* const block = first->step.take(mb);
        NodeCopies::keep(first, resources);
        ASSERT_NE(resources.spare_copies, nullptr);
        next->begin(file.team, resources, mb, 16 * mb);
        EXPECT_EQ(next->step.take(mb), block);
        EXPECT_EQ(resources.spare_copies, nullptr);
        const auto larger = std::make_shared<NodeCopies>();
        larger->begin(file.team, resources, 3 * mb, 16 * mb);
        EXPECT_NE(larger->step.take(3 * mb), nullptr);
        NodeCopies::keep(larger, resources);
        NodeCopies::keep(next, resources);
        EXPECT_EQ(resources.spare_copies, larger);
    });
}

// Ranks use spare memory only if it is the same memory for all.
TEST(NodeCopies, WritersFindTheCopiesOfAllRanks) {
    on_node(3, [](int rank, Resources& resources, FileContext& file) {
        Variable v;
        v.type = TW_INT;
        v.shape = {3};
        v.name = "v";
        file.definitions.variables.set(v);
        const auto earlier = std::make_shared<NodeCopies>();
        earlier->begin(file.team, resources, mb, 16 * mb);
        if (rank != 1) NodeCopies::keep(earlier, resources);
        NodeCopies copies;
        copies.begin(file.team, resources, mb, 16 * mb);
        Batch batch(file);
        auto holding = std::make_shared<Holding>();
        holding->elements = 1;
        const auto put = [&](std::int64_t record, const char* packed) {
            WaitingPart part;
            part.record = record;
            part.holding = holding;
            part.packed = packed;
            batch.parts[{0, record}] = {part};
        };
        for (std::int64_t record = 0; record < 3; ++record) {
            char* const copy = copies.parts.take(4);
            *copy = static_cast<char>(10 * rank + record);
            if (record != rank) put(record, copy);
        }
        EXPECT_TRUE(copies.list(batch));
        file.team.barrier();
        for (int place = 0; place < 3; ++place)
            for (std::int64_t record = 0; record < 3; ++record) {
                const char* const found = copies.find(place, {0, record});
                ASSERT_EQ(found == nullptr, record == place);
                if (found != nullptr) {
                    EXPECT_EQ(*found, 10 * place + record);
                }
            }
        put(7, nullptr);  // in an array of the model
        EXPECT_FALSE(copies.list(batch));
        put(7, file.path.data());  // in memory of this rank alone
        EXPECT_FALSE(copies.list(batch));
        file.team.barrier();
    });
}
