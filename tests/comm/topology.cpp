// SPDX-License-Identifier: Apache-2.0
#include "comm/topology.hpp"

#include <gtest/gtest.h>

#include <algorithm>

using namespace thalweg::detail;

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
