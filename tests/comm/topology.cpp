// SPDX-License-Identifier: Apache-2.0
#include "comm/topology.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "system/random.hpp"

using namespace thalweg::detail;

namespace {

/// Encodes and decodes the node of each rank. Returns the number of words that this takes.
std::size_t words_for(const std::vector<int>& node_of) {
    const std::vector<std::int64_t> words = words_of_nodes(node_of);
    std::vector<int> got(node_of.size(), -1);
    read_nodes(words, got);
    EXPECT_EQ(got, node_of);
    return words.size();
}

std::vector<int> nodes_of(int ranks, int (*node)(int)) {
    std::vector<int> result;
    for (int r = 0; r < ranks; ++r) result.push_back(node(r));
    return result;
}

}  // namespace

/// Tests placements of any number of ranks: in blocks, round robin, and blocks placed round robin.
TEST(Topology, RegularPlacementsTakeAFewWords) {
    for (const int ranks : {1, 2, 31, 32, 33, 1000, 100'000}) {
        EXPECT_LE(words_for(nodes_of(ranks, [](int r) { return r / 32; })), 8U) << ranks;
        EXPECT_LE(words_for(nodes_of(ranks, [](int r) { return r % 25; })), 8U) << ranks;
        EXPECT_LE(words_for(nodes_of(ranks, [](int r) { return r / 4 % 10; })), 16U) << ranks;
        EXPECT_LE(words_for(nodes_of(ranks, [](int) { return 0; })), 4U) << ranks;
    }
}

TEST(Topology, AnyPlacementIsToldAsItIs) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        std::vector<int> node_of;
        const auto nodes = 1 + mix(seed, 0) % 9, ranks = 1 + mix(seed, 1) % 60;
        for (std::uint64_t r = 0; r < ranks; ++r)
            for (std::uint64_t again = mix(seed, 2) % 4 + 1; again > 0; --again)
                node_of.push_back(static_cast<int>(mix(seed, 3 + r) % nodes));
        (void)words_for(node_of);
    }
}

TEST(Topology, Tables) {
    const std::vector<int> node_of{0, 1, 0, 2, 1, 0};
    const Topology t = topology_of(node_of);
    EXPECT_EQ(t.nodes, 3);
    EXPECT_TRUE(std::ranges::equal(t.node_of, node_of));
    EXPECT_TRUE(std::ranges::equal(t.by_place, std::vector{0, 2, 5, 1, 4, 3}));
    EXPECT_TRUE(std::ranges::equal(t.sizes, std::vector{3, 2, 1}));
    EXPECT_TRUE(std::ranges::equal(t.first, std::vector{0, 3, 5}));
    EXPECT_TRUE(std::ranges::equal(t.members, std::vector{0, 2, 5}));
    EXPECT_EQ(t.rank_of(1, 1), 4);
}
