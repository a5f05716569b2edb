// Tests the forms of lists of degrees of freedom: lists whose elements form boxes must cost no more
// than boxes.
//
// SPDX-License-Identifier: Apache-2.0
#include "map.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace {

using thalweg::nc::Index;
using thalweg::pio::Map;

// Returns blocks as in CICE, each with a halo of holes.
std::vector<Index> blocks(Index nx, Index ny, Index block, Index halo, Index levels) {
    std::vector<Index> dofs;
    for (Index jb = 0; jb < ny; jb += block)
        for (Index ib = 0; ib < nx; ib += 2 * block)
            for (Index k = 0; k < levels; k++)
                for (Index j = -halo; j < block + halo; j++)
                    for (Index i = -halo; i < block + halo; i++) {
                        const bool inside = i >= 0 && j >= 0 && i < block && j < block;
                        dofs.push_back(inside ? (k * ny + jb + j) * nx + ib + i : -1);
                    }
    return dofs;
}

TEST(Map, BlocksWithHalosAreBoxes) {
    const std::vector<Index> dofs = blocks(64, 32, 16, 2, 3);
    Map map({3, 32, 64}, dofs);
    EXPECT_TRUE(map.forms().boxes);
    ASSERT_EQ(map.boxes().size(), 4U);
    EXPECT_EQ(map.boxes()[1].start, (std::vector<Index>{0, 0, 32}));
    EXPECT_EQ(map.boxes()[1].count, (std::vector<Index>{3, 16, 16}));
    EXPECT_FALSE(map.dense());
    EXPECT_EQ(map.dofs(), dofs);
    map.choose(true, 0);
    EXPECT_EQ(map.dofs(), dofs);
    EXPECT_EQ(map.boxes()[1].position, 3 * 20 * 20 + 2 * 20 + 2);
    EXPECT_EQ(map.steps(), (std::vector<Index>{3 * 20 * 20, 20 * 20, 20, 1}));
}

// Such boxes cannot be described as one array with strides.
TEST(Map, BoxesAtUnequalDistancesAreAList) {
    std::vector<Index> dofs = blocks(64, 32, 16, 2, 3);
    dofs.insert(dofs.begin() + 3 * 20 * 20, -1);
    Map map({3, 32, 64}, dofs);
    EXPECT_FALSE(map.forms().boxes);
    map.choose(false, 0);
    EXPECT_EQ(map.dofs(), dofs);
}

TEST(Map, WholeArrayIsOneDenseBox) {
    std::vector<Index> dofs(60);
    std::iota(dofs.begin(), dofs.end(), 0);
    const Map map({3, 4, 5}, dofs);
    ASSERT_EQ(map.boxes().size(), 1U);
    EXPECT_TRUE(map.dense());
    EXPECT_EQ(map.boxes()[0].count, (std::vector<Index>{3, 4, 5}));
}

TEST(Map, BoxesEndWithTheirRow) {
    std::vector<Index> dofs(9);
    std::iota(dofs.begin(), dofs.end(), 3);
    const Map map({4, 5}, dofs);
    ASSERT_EQ(map.boxes().size(), 3U);
    for (const auto& box : map.boxes()) EXPECT_LE(box.start[1] + box.count[1], 5);
    EXPECT_EQ(map.dofs(), dofs);
}

TEST(Map, ColumnsAndLevelsAreAListOfColumns) {
    const std::vector<Index> columns = {7, 3, -1, 99, 50, 2, 31, 17, 23, 5};
    std::vector<Index> dofs;
    for (Index level = 0; level < 30; level++)
        for (const Index c : columns) dofs.push_back(c < 0 ? -1 : level * 100 + c);
    Map map({30, 100}, dofs);
    const thalweg::pio::MapForms forms = map.forms();
    EXPECT_FALSE(forms.boxes);
    EXPECT_NE(forms.products & 2U, 0U);
    map.choose(false, 1);
    EXPECT_EQ(map.list(), columns);
    EXPECT_EQ(map.dofs(), dofs);
    dofs[12] = 5;  // make one level differ from the others
    EXPECT_EQ(Map({30, 100}, dofs).forms().products & 2U, 0U);
}

TEST(Map, ScatteredPointsAreAList) {
    std::vector<Index> dofs;
    for (Index i = 0; i < 500; i++) dofs.push_back(i * 7919 % 4999);
    Map map({5000}, dofs);
    EXPECT_FALSE(map.forms().boxes);
    map.choose(false, 0);
    EXPECT_EQ(map.dofs(), dofs);
}

TEST(Map, NothingIsAnyForm) {
    const Map map({4, 4}, {});
    EXPECT_TRUE(map.forms().boxes);
    EXPECT_NE(map.forms().products & 2U, 0U);
    EXPECT_EQ(map.held(), 0);
}

}  // namespace
