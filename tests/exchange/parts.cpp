// SPDX-License-Identifier: Apache-2.0
#include "exchange/pieces.hpp"

#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "support/given.hpp"
#include "system/random.hpp"

using namespace thalweg::detail;

namespace {

FileSection two_places() {
    FileSection space;
    space.places.push_back({0, 0, 30, 32, 2, {3, 5}});
    space.places.push_back({1, 32, 80, 80, 8, {10}});
    space.bytes = 112;
    return space;
}

TEST(InFileOrder, SortedSwappedAndWithoutEmptyBoxes) {
    const std::vector<Box> blocks{box_of({2, 5}, {3, 4}), box_of({1, 1}, {0, 3}),
                                  box_of({0, 1}, {2, 2})};  // in memory (x, y)
    const int order[] = {1, 0};                             // file (y, x)
    const std::vector<std::int64_t> shape{20, 10};
    const auto held = in_file_order(blocks, order, shape);
    ASSERT_EQ(held.size(), 2U);
    EXPECT_EQ(held[0].block, 2);
    EXPECT_EQ(held[0].first, 10);
    EXPECT_EQ(held[0].last, 21);
    EXPECT_EQ(held[1].block, 0);
    EXPECT_EQ(held[1].box.low[0], 5);
    EXPECT_EQ(held[1].box.count[0], 4);
    EXPECT_EQ(held[1].first, 52);
    EXPECT_EQ(held[1].last, 84);
}

TEST(PlacesIn, ElementsOfAPiece) {
    const FileSection space = two_places();
    using Found = std::map<std::size_t, std::pair<std::int64_t, std::int64_t>>;
    const auto found_in = [&](Extent piece) {
        Found found;
        for (const PlaceInPiece& in : places_in(space, piece))
            found[in.place] = {in.range.begin, in.range.end};
        return found;
    };
    EXPECT_EQ(found_in({0, 112}), (Found{{0, {0, 15}}, {1, {0, 10}}}));
    EXPECT_EQ(found_in({10, 48}), (Found{{0, {5, 15}}, {1, {0, 2}}}));
    EXPECT_TRUE(found_in({30, 32}).empty());  // the range contains only padding
    EXPECT_EQ(found_in({32, 40}), (Found{{1, {0, 1}}}));
}

TEST(PieceCursor, PiecesAreTheExtents) {
    Random random(3);
    for (int i = 0; i < 3000; ++i) {
        SCOPED_TRACE(i);
        FileSection space;
        for (int v = 0; v < 4; ++v) {
            VariableSlot p;
            p.offset = space.bytes;
            p.element = random.pick<std::int64_t>({1, 2, 4, 8});
            p.shape = {random.between(1, 400)};
            p.bytes = p.shape[0] * p.element;
            p.padded = (p.bytes + 3) / 4 * 4;
            space.bytes += p.padded;
            space.places.push_back(p);
        }
        std::vector<char> wanted;
        for (int v = 0; v < 4; ++v) wanted.push_back(random.percent(70));
        // Also test the shares of writers, not only whole variables.
        const auto layout = make_record_layout(static_cast<int>(random.between(1, 4)),
                                               std::int64_t(1) << random.below(8));
        const auto extents = intersect(
            layout->share(static_cast<int>(random.below(layout->writers())), space, 4).extents(),
            extents_of(space, wanted));
        const std::int64_t size = random.pick<std::int64_t>({256, 300, 1024, 1 << 20});
        PieceCursor cursor(space, extents, size);
        std::vector<Extent> joined;
        std::int64_t pieces = 0;
        for (Extent piece; cursor.next(piece); ++pieces) {
            ASSERT_LT(piece.begin, piece.end);
            ASSERT_LE(piece.size(), size + 16);
            ASSERT_EQ(piece.begin, space.element_boundary(piece.begin));
            ASSERT_EQ(piece.end, space.element_boundary(piece.end));
            if (!joined.empty() && joined.back().end == piece.begin)
                joined.back().end = piece.end;
            else
                joined.push_back(piece);
        }
        ASSERT_EQ(joined.size(), extents.size());
        std::int64_t most = 0;
        for (std::size_t k = 0; k < extents.size(); ++k) {
            ASSERT_EQ(joined[k].begin, extents[k].begin);
            ASSERT_EQ(joined[k].end, extents[k].end);
            most += extents[k].size() / size + 2;
        }
        ASSERT_LE(pieces, most);
        Extent piece;
        ASSERT_FALSE(cursor.next(piece));
    }
    PieceCursor none;
    Extent piece;
    EXPECT_FALSE(none.next(piece));
}

}  // namespace
