// Tests layouts of grids: the parts of variables, the cuts of dimensions, and the setting `tiles`.
//
// SPDX-License-Identifier: Apache-2.0
#include "layout/grid.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <vector>

#include "layout/writers.hpp"

using namespace thalweg::detail;

namespace {

TEST(GridLayout, AWriterOwnsItsPartOfEveryVariable) {
    FileSection space;
    space.bytes = 4 * (3 * 10 * 8 + 8);
    space.places.push_back({0, 0, 960, 960, 4, {3, 10, 8}, {5, 1, 2}});
    space.places.push_back({1, 960, 32, 32, 4, {8}, {2}});
    Grid grid;
    grid.rows = grid.columns = 2;
    grid.y.push_back({1, {0, 7}});
    grid.x.push_back({2, {0, 3}});
    const auto layout = make_grid_layout(grid);
    const Share share = layout->share(3, space, 0);
    EXPECT_EQ(share.space().places[0].shape, (std::vector<std::int64_t>{3, 3, 5}));
    Box box;
    box.nd = 3;
    EXPECT_EQ(share.placed(0, box).low[1], 7);
    EXPECT_EQ(share.placed(0, box).low[2], 3);
    // One of the writers along y owns a part of the one-dimensional variable; in separate files,
    // each does.
    EXPECT_EQ(share.space().places[1].bytes, 20);
    EXPECT_EQ(layout->share(1, space, 0).space().places[1].bytes, 0);
    grid.own_files = true;
    const auto files = make_grid_layout(grid);
    EXPECT_EQ(files->share(1, space, 0).space().places[1].bytes, 20);
    std::set<int> met;
    box.nd = 1;
    box.count[0] = 3;
    files->add_writers(space, 1, box, met);
    EXPECT_EQ(met, (std::set<int>{0, 2}));
}

TEST(Grid, CutsAtBlockStartsOrEvenly) {
    const std::vector<std::int64_t> starts{0, 5, 9, 30, 31};
    EXPECT_EQ(cut_dimension(starts, 40, 5), starts);
    EXPECT_EQ(cut_dimension(starts, 40, 2), (std::vector<std::int64_t>{0, 9}));
    EXPECT_EQ(cut_dimension(starts, 40, 1), (std::vector<std::int64_t>{0}));
    EXPECT_EQ(cut_dimension(starts, 40, 8),
              (std::vector<std::int64_t>{0, 5, 10, 15, 20, 25, 30, 35}));
}

TEST(Tiles, Parse) {
    struct Row {
        const char* text;
        int x, y;
    };
    const Row rows[] = {{"4x2", 4, 2}, {"1x1", 1, 1},  {"12x10", 12, 10}, {"", 0, 0},
                        {"4", 0, 0},   {"4x", 0, 0},   {"x4", 0, 0},      {"0x2", 0, 0},
                        {"2x0", 0, 0}, {"2x3x", 0, 0}, {"-1x2", 0, 0},    {"2X3", 0, 0}};
    for (const Row& row : rows) {
        const Tiles tiles = parse_tiles(row.text);
        EXPECT_EQ(tiles.x, row.x) << row.text;
        EXPECT_EQ(tiles.y, row.y) << row.text;
    }
}

}  // namespace
