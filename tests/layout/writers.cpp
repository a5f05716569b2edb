// Tests the setting `writers`, and the ranks that it selects.
//
// SPDX-License-Identifier: Apache-2.0
#include "layout/writers.hpp"

#include <gtest/gtest.h>

#include <vector>

using namespace thalweg::detail;

namespace {

TEST(Writers, Parse) {
    struct Row {
        const char* text;
        int number;
        bool per_node;
        int first = 0, stride = 0;
    };
    const Row rows[] = {
        {"4:3", 4, false, 3, 0}, {"4:0:2", 4, false, 0, 2}, {"1/node:1:3", 1, true, 1, 3},
        {"4:", 0, false},        {"4:-1", 0, false},        {"4:0:0", 0, false},
        {"4:0:1:", 0, false},    {"4:0:1x", 0, false},      {"1", 1, false},
        {"16", 16, false},       {"2/node", 2, true},       {"", 0, false},
        {"0", 0, false},         {"-3", 0, false},          {"0/node", 0, false},
        {"/node", 0, false},     {"2/nodes", 0, false},     {"2 /node", 0, false},
        {"two", 0, false},       {"99999999999", 0, false}, {"3x", 0, false},
        {"1.5", 0, false}};
    for (const Row& row : rows) {
        const WriterCount count = parse_writers(row.text);
        EXPECT_EQ(count.number, row.number) << row.text;
        EXPECT_EQ(count.per_node, row.per_node) << row.text;
        EXPECT_EQ(count.first, row.first) << row.text;
        EXPECT_EQ(count.stride, row.stride) << row.text;
    }
}

/// Makes a topology of nodes with the given numbers of ranks. Ranks are assigned to the nodes in
/// turn, so that a rank's place in node order differs from its number.
Topology nodes_of(const std::vector<int>& sizes) {
    std::vector<int> node_of, left = sizes;
    int ranks = 0;
    for (const int n : sizes) ranks += n;
    for (std::size_t node = 0; static_cast<int>(node_of.size()) < ranks;
         node = (node + 1) % sizes.size())
        if (left[node]-- > 0) node_of.push_back(static_cast<int>(node));
    return topology_of(node_of);
}

TEST(Writers, Pick) {
    const Topology t = nodes_of({3, 3, 2});  // nodes with ranks 0 3 6, 1 4 7, 2 5
    struct Row {
        const char* count;
        int first, stride;
        bool as_possible;
        std::vector<int> ranks;  // expected ranks; empty: an error is expected
    };
    const Row rows[] = {
        {"1", 0, 0, false, {0}},
        {"3", 0, 0, false, {0, 1, 2}},  // all nodes take part
        {"2", 0, 0, false, {0, 1}},
        {"5", 0, 0, false, {0, 1, 4, 2, 5}},
        {"99", 0, 0, false, {0, 3, 6, 1, 4, 7, 2, 5}},
        {"2", 4, 0, false, {4, 2}},
        {"3", 1, 3, false, {1, 4, 7}},
        {"3", 0, 3, false, {0, 3, 6}},
        {"4", 1, 3, false, {}},
        {"4", 1, 3, true, {1, 4, 7}},
        {"1", 8, 0, true, {}},
        {"1", 8, 1, true, {}},
        {"1/node", 0, 0, false, {0, 1, 2}},
        {"1/node", 1, 0, false, {3, 4, 5}},
        {"2/node", 0, 1, false, {0, 3, 1, 4, 2, 5}},
        {"2/node", 0, 2, false, {}},  // the last node has only two ranks
        {"2/node", 0, 2, true, {0, 6, 1, 7, 2}},
        {"1/node", 2, 0, false, {}},
    };
    for (const Row& row : rows) {
        std::vector<int> ranks;
        WriterCount asked = parse_writers(row.count);
        asked.first = row.first;
        asked.stride = row.stride;
        const Status status = pick_writers(t, asked, row.as_possible, ranks);
        SCOPED_TRACE(testing::Message() << row.count << " " << row.first << " " << row.stride);
        EXPECT_EQ(status.code, row.ranks.empty() ? TW_ESETTING : TW_OK) << status.text;
        if (status.ok()) {
            EXPECT_EQ(ranks, row.ranks);
        }
    }
}

}  // namespace
