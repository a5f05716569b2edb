// SPDX-License-Identifier: Apache-2.0
#include "service/servers/crew.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "service/servers/transport.hpp"
#include "system/random.hpp"

using namespace thalweg::detail;

namespace {

/// Ranks on nodes, node by node, or dealt out in turn.
Topology make_topology(int ranks, int nodes, bool in_turn) {
    Topology t;
    t.nodes = std::min(nodes, ranks);
    t.sizes.assign(static_cast<std::size_t>(t.nodes), 0);
    for (int r = 0; r < ranks; ++r) {
        const int node = in_turn ? r % t.nodes : r * t.nodes / ranks;
        t.node_of.push_back(node);
        ++t.sizes[static_cast<std::size_t>(node)];
    }
    for (int node = 0; node < t.nodes; ++node) {
        t.first.push_back(static_cast<int>(t.by_place.size()));
        for (int r = 0; r < ranks; ++r)
            if (t.node_of[static_cast<std::size_t>(r)] == node) t.by_place.push_back(r);
    }
    return t;
}

}  // namespace

// Every rank serves or is served, and what a node's ranks have reaches every writer once.
TEST(Crew, CoversEveryNodeAndWriterOnce) {
    for (int ranks = 2; ranks <= 13; ++ranks)
        for (int nodes = 1; nodes <= 6; ++nodes)
            for (int number = 1; number < ranks; ++number)
                for (const bool in_turn : {false, true})
                    for (const bool last : {false, true}) {
                        const Topology t = make_topology(ranks, nodes, in_turn);
                        const Crew crew = choose_crew(t, ranks, number, last);
                        ASSERT_EQ(crew.servers.size(), static_cast<std::size_t>(number));
                        std::set<int> all(crew.servers.begin(), crew.servers.end());
                        all.insert(crew.models.begin(), crew.models.end());
                        ASSERT_EQ(all.size(), static_cast<std::size_t>(ranks));
                        ASSERT_EQ(crew.models.size() + crew.servers.size(), all.size());
                        EXPECT_TRUE(std::is_sorted(crew.servers.begin(), crew.servers.end()));
                        EXPECT_TRUE(std::is_sorted(crew.models.begin(), crew.models.end()));
                        EXPECT_EQ(crew.nodes(), t.nodes);
                        if (last) {
                            EXPECT_EQ(crew.servers.front(), ranks - number);
                        }
                        for (int w = 0; w < number; ++w) {
                            const int writer = crew.servers[static_cast<std::size_t>(w)];
                            const int here = t.node_of[static_cast<std::size_t>(writer)];
                            const auto feeders = crew.feeders(w);
                            // Model ranks whose data come by these messages.
                            std::multiset<int> reached;
                            for (const int f : feeders) {
                                const int node = t.node_of[static_cast<std::size_t>(f)];
                                EXPECT_NE(node, here);
                                if (all.count(f) == 1 &&
                                    std::find(crew.servers.begin(), crew.servers.end(), f) !=
                                        crew.servers.end()) {
                                    EXPECT_EQ(crew.servers[static_cast<std::size_t>(
                                                  crew.forwarder(node, w))],
                                              f);
                                    for (int m : crew.models_of(node)) reached.insert(m);
                                } else {
                                    EXPECT_TRUE(crew.servers_of(node).empty());
                                    for (std::size_t m = 0; m < crew.models.size(); ++m)
                                        if (crew.models[m] == f)
                                            reached.insert(static_cast<int>(m));
                                }
                            }
                            for (int m : crew.models_of(here)) reached.insert(m);  // by memory
                            EXPECT_EQ(reached.size(), crew.models.size());
                            EXPECT_EQ(std::set<int>(reached.begin(), reached.end()).size(),
                                      crew.models.size());
                        }
                    }
}

// Spread: no node gives two more than another that could give one more.
TEST(Crew, SpreadsServersOverNodes) {
    for (int ranks = 2; ranks <= 13; ++ranks)
        for (int nodes = 1; nodes <= 6; ++nodes)
            for (int number = 1; number < ranks; ++number) {
                const Topology t = make_topology(ranks, nodes, false);
                const Crew crew = choose_crew(t, ranks, number, false);
                std::size_t most = 0;
                for (int node = 0; node < t.nodes; ++node)
                    most = std::max(most, crew.servers_of(node).size());
                for (int node = 0; node < t.nodes; ++node) {
                    const auto n = crew.servers_of(node).size();
                    if (n < static_cast<std::size_t>(t.sizes[static_cast<std::size_t>(node)])) {
                        EXPECT_GE(n + 1, most);
                    }
                }
            }
}

TEST(Transport, LocalMessagesKeepTheirOrder) {
    auto ends = make_local_transports(3);
    Message m;
    EXPECT_FALSE(ends[1]->receive(m));
    for (char k = 0; k < 5; ++k) {
        ends[0]->send(1, MessageKind::parcels, k, {k, k});
        ends[2]->send(1, MessageKind::report, 10 + k, {});
    }
    char from_0 = 0, from_2 = 0;
    while (ends[1]->receive(m)) {
        if (m.from == 0) {
            EXPECT_EQ(m.kind, MessageKind::parcels);
            EXPECT_EQ(m.file, from_0);
            EXPECT_EQ(m.body, (std::vector<char>{from_0, from_0}));
            ++from_0;
        } else {
            EXPECT_EQ(m.kind, MessageKind::report);
            EXPECT_EQ(m.file, 10 + from_2);
            ++from_2;
        }
    }
    EXPECT_EQ(from_0, 5);
    EXPECT_EQ(from_2, 5);
    EXPECT_FALSE(ends[0]->receive(m));
    EXPECT_TRUE(ends[0]->idle());
}
