// SPDX-License-Identifier: Apache-2.0
#include "service/queue/packed_boxes.hpp"

#include <gtest/gtest.h>

#include "exchange/pieces.hpp"

using namespace thalweg::detail;

// Variables that are held by the same list share its description.
TEST(PackedBoxes, TellAListOnce) {
    const std::vector<std::int64_t> shape{5000};
    std::vector<std::int64_t> indices;
    for (std::int64_t i = 0; i < 5000; i += 1 + i % 3) indices.push_back(i);
    auto list = std::make_shared<IndexList>();
    std::int64_t twice = -1;
    ASSERT_TRUE(compress(indices, 5000, 5000, false, *list, twice).ok());
    auto listed = std::make_shared<Listed>();
    listed->count = 1;
    listed->length = std::ssize(indices);
    listed->list = list;
    auto decomposition = std::make_shared<Decomposition>();
    decomposition->shape = shape;
    decomposition->listed = listed;
    decomposition->held = list->elements;
    const auto holding = make_holding(decomposition, {0}, shape);
    const auto one = PackedBoxes({holding}).words().size();
    EXPECT_EQ(PackedBoxes(Holdings(10, holding)).words().size(), one + 9);
}
