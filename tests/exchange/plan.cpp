// Tests the plan of one rank among very many, computed without MPI: its cost must depend on the
// rank's own blocks and the writers they meet, not on the number of ranks or the size of the grid.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "exchange/pieces.hpp"
#include "layout/grid.hpp"

using namespace thalweg::detail;

namespace {

/// CAM's finite-volume grid "D": 26 levels, 361 latitudes and 576 longitudes, cut into blocks.
struct ModelGrid {
    std::int64_t shape[3] = {26, 361, 576};  // lev lat lon, the file's order
    std::int64_t cells[3] = {25, 80, 50};    // number of blocks along each: 100,000 ranks
    std::int64_t ranks() const { return cells[0] * cells[1] * cells[2]; }

    std::int64_t rank_at(std::int64_t lev, std::int64_t lat, std::int64_t lon) const {
        return (lev * cells[1] + lat) * cells[2] + lon;
    }

    Box block(std::int64_t rank) const {
        Box box;
        box.nd = 3;
        for (int d = 2; d >= 0; --d) {
            const std::int64_t i = rank % cells[d];
            rank /= cells[d];
            box.low[d] = shape[d] * i / cells[d];
            box.count[d] = shape[d] * (i + 1) / cells[d] - box.low[d];
        }
        return box;
    }

    /// Makes a record with 34 variables of three dimensions and 40 of two (lat lon).
    FileSection record() const {
        FileSection space;
        for (int v = 0; v < 74; ++v) {
            VariableSlot p;
            p.variable = v;
            p.element = 4;
            p.offset = space.bytes;
            p.shape.assign(shape + (v < 34 ? 0 : 1), shape + 3);
            p.dims = v < 34 ? std::vector<int>{0, 1, 2} : std::vector<int>{1, 2};
            p.bytes = p.padded = 4 * volume(p.shape);
            space.bytes += p.padded;
            space.places.push_back(std::move(p));
        }
        return space;
    }
};

struct Plan {
    std::int64_t writers = 0;  ///< number of writers to which the rank may have to send
    std::int64_t owners = 0;   ///< number of writers to which it sends
    std::int64_t pieces = 0;   ///< number of pieces that it examines
    std::int64_t parts = 0;    ///< number of boxes that it copies
    std::int64_t elements = 0;
    std::int64_t rows = 0;  ///< number of contiguous runs of its blocks in the file
};

/// Plans one record as rank `rank` would, and visits its pieces.
Plan plan_of(const ModelGrid& grid, std::int64_t rank, const Layout& layout) {
    const FileSection space = grid.record();
    const Box box = grid.block(rank);
    // The order in memory is (lat, lev, lon): the index swap of the model.
    Box in_memory = box;
    std::swap(in_memory.low[0], in_memory.low[1]);
    std::swap(in_memory.count[0], in_memory.count[1]);
    const int swapped[] = {1, 0, 2}, plain[] = {0, 1};
    Box flat;
    flat.nd = 2;
    for (int d = 0; d < 2; ++d) {
        flat.low[d] = box.low[d + 1];
        flat.count[d] = box.count[d + 1];
    }
    const auto deep = in_file_order({&in_memory, 1}, swapped, space.places.front().shape);
    std::vector<HeldBox> thin;
    if (box.low[0] == 0) thin = in_file_order({&flat, 1}, plain, space.places.back().shape);
    auto held = [&](std::size_t place) -> const std::vector<HeldBox>& {
        return place < 34 ? deep : thin;
    };

    Plan plan;
    std::set<int> met;
    for (std::size_t i = 0; i < space.places.size(); ++i)
        for (const HeldBox& h : held(i)) {
            layout.add_writers(space, i, h.box, met);
            plan.rows += h.box.volume() / h.box.count[h.box.nd - 1];
        }
    plan.writers = static_cast<std::int64_t>(met.size());
    for (int w : met) {
        const Share share = layout.share(w, space, 8192);
        PieceCursor cursor(share.space(), share.extents(), 1 << 20);
        const std::int64_t before = plan.parts;
        for (Extent piece; cursor.next(piece);) {
            ++plan.pieces;
            for (const auto& [place, range] : places_in(share.space(), piece))
                for_frames(share, place, range, held(place),
                           [&](const HeldBox& h, const Box& within) {
                               for_runs(h, within, [&](const HeldBox&, const Box& part) {
                                   ++plan.parts;
                                   plan.elements += part.volume();
                               });
                           });
        }
        plan.owners += plan.parts > before;
    }
    return plan;
}

std::int64_t elements_of(const ModelGrid& grid, std::int64_t rank) {
    const Box box = grid.block(rank);
    return 34 * box.volume() + (box.low[0] == 0 ? 40 * box.count[1] * box.count[2] : 0);
}

/// Makes a layout with one writer for each row of the process grid.
std::unique_ptr<Layout> rows_of(const ModelGrid& grid) {
    Grid rows;
    rows.rows = static_cast<int>(grid.cells[1]);
    std::vector<std::int64_t> starts;
    for (std::int64_t k = 0; k < grid.cells[1]; ++k)
        starts.push_back(grid.shape[1] * k / grid.cells[1]);
    rows.y.push_back({1, cut_dimension(starts, grid.shape[1], rows.rows)});
    return make_grid_layout(rows);
}

/// @param in_rows  each writer has a range of rows of every variable
void check(const ModelGrid& grid, const Layout& layout, std::int64_t alignment,
           bool in_rows = false) {
    const FileSection space = grid.record();
    const std::int64_t each = space.bytes / layout.writers();
    for (std::int64_t rank : {0, 1, 4321, 50'000, 77'777, 99'999}) {
        SCOPED_TRACE(testing::Message() << layout.writers() << " writers, rank " << rank);
        const Plan plan = plan_of(grid, rank, layout);
        // Each element is sent once: no writer was overlooked.
        EXPECT_EQ(plan.elements, elements_of(grid, rank));
        // A run of a block can belong to the writers of its bytes and to one more at each end,
        // because cuts move by up to the alignment.
        const std::int64_t run = 4 * grid.block(rank).count[2];
        EXPECT_LE(plan.writers, plan.rows * (3 + (run + 2 * alignment) / each));
        // Only the pieces of these writers are examined.
        EXPECT_LE(plan.pieces, plan.writers * (each / (1 << 20) + 3 + alignment / (1 << 20)) +
                                   (in_rows ? plan.writers * 74 : 0));
        EXPECT_LE(plan.parts, plan.rows + 5 * std::min(plan.pieces, 2 * plan.rows));
        EXPECT_GE(plan.parts, plan.owners);
    }
}

std::vector<ModelGrid> decompositions() {
    ModelGrid blocks;
    ModelGrid columns;  // as in the model's physics, each rank has all levels
    columns.cells[0] = 1;
    columns.cells[1] = 361;
    columns.cells[2] = 278;
    return {blocks, columns};
}

TEST(PlanOfManyRanks, IsBoundedByBlocksAndWriters) {
    for (const ModelGrid& grid : decompositions()) {
        ASSERT_GE(grid.ranks(), 100'000);
        for (int writers : {16, 3125, 100'000})
            check(grid, *make_record_layout(writers, 4096), 4096);
        check(grid, *make_record_layout(3125, 1 << 20), 1 << 20);
        check(grid, *make_slabs_layout(26), 0, true);
        check(grid, *make_record_layout(1, 1), 0);
        check(grid, *rows_of(grid), 0);
    }
}

/// With eight times as many ranks, writers and latitudes, blocks have the same size, so the work of
/// a rank must be the same.
TEST(PlanOfManyRanks, DoesNotGrowWithTheGrid) {
    for (ModelGrid grid : decompositions()) {
        const auto layout = make_record_layout(3125, 4096);
        const Plan small = plan_of(grid, grid.rank_at(grid.cells[0] / 2, 40, 25), *layout);
        grid.shape[1] *= 8;
        grid.cells[1] *= 8;
        const auto larger = make_record_layout(8 * 3125, 4096);
        const Plan large = plan_of(grid, grid.rank_at(grid.cells[0] / 2, 40, 25), *larger);
        EXPECT_EQ(large.rows, small.rows);
        EXPECT_LE(large.writers, small.writers * 5 / 4 + 2);
        EXPECT_LE(large.pieces, small.pieces * 5 / 4 + 2);
        EXPECT_LE(large.parts, small.parts * 5 / 4 + 2);
    }
}

/// A rank of a process grid sends only to the writer of its row.
TEST(PlanOfManyRanks, ARowHasOneWriter) {
    for (const ModelGrid& grid : decompositions()) {
        const auto layout = rows_of(grid);
        for (std::int64_t rank : {0, 4321, 99'999})
            EXPECT_EQ(plan_of(grid, rank, *layout).writers, 1);
    }
}

}  // namespace
