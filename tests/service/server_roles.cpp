// SPDX-License-Identifier: Apache-2.0
#include "service/servers/server_roles.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "service/local_transport.hpp"
#include "system/random.hpp"

using namespace thalweg::detail;

namespace {

/// Distributes ranks over nodes: node by node, or in turn.
Topology make_topology(int ranks, int nodes, bool in_turn) {
    std::vector<int> node_of;
    nodes = std::min(nodes, ranks);
    for (int r = 0; r < ranks; ++r) node_of.push_back(in_turn ? r % nodes : r * nodes / ranks);
    return topology_of(node_of);
}

}  // namespace

// Each rank is a server or has one, and each writer gets the data of a node's ranks once.
TEST(ServerRoles, CoversEveryNodeAndWriterOnce) {
    for (int ranks = 2; ranks <= 13; ++ranks)
        for (int nodes = 1; nodes <= 6; ++nodes)
            for (int number = 1; number < ranks; ++number)
                for (const bool in_turn : {false, true})
                    for (const bool last : {false, true}) {
                        const Topology t = make_topology(ranks, nodes, in_turn);
                        const ServerRoles server_roles = choose_server_roles(t, number, last);
                        const std::vector<int>& servers = server_roles.servers();
                        ASSERT_EQ(servers.size(), static_cast<std::size_t>(number));
                        EXPECT_TRUE(std::is_sorted(servers.begin(), servers.end()));
                        EXPECT_EQ(server_roles.models(), ranks - number);
                        EXPECT_EQ(server_roles.nodes(), t.nodes);
                        if (last) {
                            EXPECT_EQ(servers.front(), ranks - number);
                        }
                        for (int w = 0; w < number; ++w) {
                            const int writer = servers[static_cast<std::size_t>(w)];
                            const int here = server_roles.node_of(writer);
                            // model ranks whose data these messages contain
                            std::multiset<int> reached;
                            for (const int f : server_roles.senders(w)) {
                                const int node = server_roles.node_of(f);
                                EXPECT_NE(node, here);
                                if (server_roles.serves(f)) {
                                    EXPECT_EQ(servers[static_cast<std::size_t>(
                                                  server_roles.forwarder(node, w))],
                                              f);
                                    for (int m : server_roles.models_of(node)) reached.insert(m);
                                } else {
                                    EXPECT_TRUE(server_roles.servers_of(node).empty());
                                    reached.insert(f);
                                }
                            }
                            for (int m : server_roles.models_of(here))
                                reached.insert(m);  // data that are passed in memory
                            EXPECT_EQ(reached.size(),
                                      static_cast<std::size_t>(server_roles.models()));
                            EXPECT_EQ(std::set<int>(reached.begin(), reached.end()).size(),
                                      reached.size());
                        }
                    }
}

// Tests numbers and addresses of model ranks and servers, and their places on nodes.
TEST(ServerRoles, Numbers) {
    for (int ranks = 2; ranks <= 13; ++ranks)
        for (int number = 1; number < ranks; ++number)
            for (const bool in_turn : {false, true}) {
                const Topology t = make_topology(ranks, 4, in_turn);
                const ServerRoles server_roles = choose_server_roles(t, number, false);
                int models = 0, servers = 0;
                for (int a = 0; a < ranks; ++a) {
                    if (server_roles.serves(a)) {
                        EXPECT_EQ(server_roles.servers()[static_cast<std::size_t>(servers)], a);
                        EXPECT_EQ(server_roles.number_of(a), servers++);
                    } else {
                        EXPECT_EQ(server_roles.model(models), a);
                        EXPECT_EQ(server_roles.number_of(a), models++);
                    }
                    const int node = server_roles.node_of(a);
                    EXPECT_EQ(t.rank_of(node, server_roles.place_of(a)), a);
                    const auto mine = server_roles.models_of(node);
                    EXPECT_EQ(std::count(mine.begin(), mine.end(), a),
                              server_roles.serves(a) ? 0 : 1);
                    EXPECT_EQ(server_roles.has_models(node), !mine.empty());
                }
                EXPECT_EQ(models, server_roles.models());
                EXPECT_EQ(servers, number);
            }
}

// A message from the first server reaches each server once, with few messages from each; and it
// reaches each rank without a server on its node once.
TEST(ServerRoles, Tree) {
    for (int number = 1; number <= 40; ++number) {
        const ServerRoles server_roles =
            choose_server_roles(make_topology(2 * number + 9, 5, false), number, true);
        std::vector<int> order{0}, lone;
        for (std::size_t i = 0; i < order.size(); ++i) {
            const auto below = servers_below(order[i], server_roles.servers().size());
            EXPECT_LE(below.size(), 2U);
            for (const int b : below) {
                EXPECT_EQ(server_above(b), order[i]);
                order.push_back(b);
            }
            const auto told = server_roles.ranks_of(order[i]);
            lone.insert(lone.end(), told.begin(), told.end());
        }
        std::sort(order.begin(), order.end());
        std::vector<int> all(static_cast<std::size_t>(number));
        std::iota(all.begin(), all.end(), 0);
        EXPECT_EQ(order, all);
        EXPECT_EQ(server_above(0), -1);
        std::sort(lone.begin(), lone.end());
        std::vector<int> wanted;
        for (int m = 0; m < server_roles.models(); ++m)
            if (server_roles.servers_of(server_roles.node_of(server_roles.model(m))).empty())
                wanted.push_back(server_roles.model(m));
        EXPECT_EQ(lone, wanted);
        EXPECT_FALSE(lone.empty());
    }
}

// No node has two servers more than another node that could have one more.
TEST(ServerRoles, SpreadsServersOverNodes) {
    for (int ranks = 2; ranks <= 13; ++ranks)
        for (int nodes = 1; nodes <= 6; ++nodes)
            for (int number = 1; number < ranks; ++number) {
                const Topology t = make_topology(ranks, nodes, false);
                const ServerRoles server_roles = choose_server_roles(t, number, false);
                std::size_t most = 0;
                for (int node = 0; node < t.nodes; ++node)
                    most = std::max(most, server_roles.servers_of(node).size());
                for (int node = 0; node < t.nodes; ++node) {
                    const auto n = server_roles.servers_of(node).size();
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
        ends[0]->send(1, MessageKind::unit_parts, k, {k, k});
        ends[2]->send(1, MessageKind::report, 10 + k, {});
    }
    char from_0 = 0, from_2 = 0;
    while (ends[1]->receive(m)) {
        if (m.from == 0) {
            EXPECT_EQ(m.kind, MessageKind::unit_parts);
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
