// The plan of one rank among very many, computed without MPI: what it costs must depend on the
// rank's own blocks and the writers they meet, not on the number of ranks or the size of the grid.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "exchange/parts.hpp"

using namespace thalweg;

namespace {

/// CAM's finite-volume grid "D": 26 levels, 361 latitudes and 576 longitudes, cut into blocks.
struct Grid {
    std::int64_t shape[3] = {26, 361, 576};   // lev lat lon, the file's order
    std::int64_t cells[3] = {25, 80, 50};     // blocks along each: 100,000 ranks
    std::int64_t ranks() const { return cells[0] * cells[1] * cells[2]; }

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

    /// One record: 34 variables of three dimensions, 40 of two (lat lon).
    Space record() const {
        Space space;
        for (int v = 0; v < 74; ++v) {
            Place p;
            p.variable = v;
            p.element = 4;
            p.offset = space.bytes;
            p.shape.assign(shape + (v < 34 ? 0 : 1), shape + 3);
            p.bytes = p.padded = 4 * volume(p.shape);
            space.bytes += p.padded;
            space.places.push_back(std::move(p));
        }
        return space;
    }
};

struct Plan {
    std::int64_t writers = 0;   ///< that the rank prepares to feed
    std::int64_t owners = 0;    ///< of them, those it feeds
    std::int64_t pieces = 0;    ///< that it looks at
    std::int64_t parts = 0;     ///< boxes that it copies
    std::int64_t elements = 0;
    std::int64_t rows = 0;      ///< contiguous runs of its blocks in the file
};

/// What rank `rank` does to plan and walk one record.
Plan plan_of(const Grid& grid, std::int64_t rank, const Layout& layout) {
    const Space space = grid.record();
    const Box box = grid.block(rank);
    // In memory (lat, lev, lon): the index swap of the model.
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
            add_writers_met(layout, space, i, h, met);
            plan.rows += h.box.volume() / h.box.count[h.box.nd - 1];
        }
    plan.writers = static_cast<std::int64_t>(met.size());
    const std::vector<Extent> wanted{{0, space.bytes}};
    for (int w : met) {
        PieceCursor cursor(space, intersect(layout.share(w, space, 8192), wanted), 1 << 20);
        const std::int64_t before = plan.parts;
        for (Extent piece; cursor.next(piece);) {
            ++plan.pieces;
            for_places(space, piece, [&](std::size_t place, ElementRange range) {
                for_parts(space.places[place].shape, range, held(place),
                          [&](const HeldBox&, const Box& part) {
                              ++plan.parts;
                              plan.elements += part.volume();
                          });
            });
        }
        plan.owners += plan.parts > before;
    }
    return plan;
}

std::int64_t elements_of(const Grid& grid, std::int64_t rank) {
    const Box box = grid.block(rank);
    return 34 * box.volume() + (box.low[0] == 0 ? 40 * box.count[1] * box.count[2] : 0);
}

TEST(PlanOfManyRanks, IsBoundedByBlocksAndWriters) {
    const Grid grid;
    ASSERT_EQ(grid.ranks(), 100'000);
    for (const auto& layout : {make_record_layout(3125, 4096), make_slabs_layout(26),
                               make_record_layout(100'000, 4096), make_serial_layout()}) {
        SCOPED_TRACE(testing::Message() << layout->name() << " " << layout->writers());
        for (std::int64_t rank : {0, 1, 4321, 50'000, 77'777, 99'999}) {
            const Plan plan = plan_of(grid, rank, *layout);
            // Nothing is left out or sent twice, so no owner was overlooked.
            EXPECT_EQ(plan.elements, elements_of(grid, rank));
            printf("%s %d rank %ld: met %ld owners %ld pieces %ld parts %ld rows %ld\n", layout->name(), layout->writers(), rank, plan.writers, plan.owners, plan.pieces, plan.parts, plan.rows);
        }
    }
}

TEST(PlanOfManyRanks, Columns) {
    Grid grid;
    grid.cells[0] = 1; grid.cells[1] = 361; grid.cells[2] = 277;
    for (const auto& layout : {make_record_layout(3125, 4096), make_slabs_layout(26),
                               make_record_layout(100'000, 4096), make_serial_layout()}) {
        SCOPED_TRACE(testing::Message() << layout->name() << " " << layout->writers());
        for (std::int64_t rank : {0, 1, 4321, 50'000, 77'777, 99'999}) {
            const Plan plan = plan_of(grid, rank, *layout);
            // Nothing is left out or sent twice, so no owner was overlooked.
            EXPECT_EQ(plan.elements, elements_of(grid, rank));
            printf("%s %d rank %ld: met %ld owners %ld pieces %ld parts %ld rows %ld\n", layout->name(), layout->writers(), rank, plan.writers, plan.owners, plan.pieces, plan.parts, plan.rows);
        }
    }
}

}  // namespace
