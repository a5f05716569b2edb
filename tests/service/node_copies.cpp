// SPDX-License-Identifier: Apache-2.0
#include "service/inline/node_copies.hpp"

#include <gtest/gtest.h>

#include "service/resources.hpp"
#include "support/threads.hpp"

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
