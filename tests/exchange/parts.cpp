// SPDX-License-Identifier: Apache-2.0
#include "exchange/parts.hpp"

#include <gtest/gtest.h>

#include <map>
#include <numeric>

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

/// Divides a box into disjoint boxes at random.
void cut(Random& random, const Box& box, std::vector<Box>& into, int depth) {
    const auto d = static_cast<int>(random.below(box.nd));
    if (depth == 0 || box.count[d] < 2 || random.percent(15)) {
        into.push_back(box);
        return;
    }
    Box low = box, high = box;
    low.count[d] = random.between(1, box.count[d] - 1);
    high.low[d] += low.count[d];
    high.count[d] -= low.count[d];
    cut(random, low, into, depth - 1);
    cut(random, high, into, depth - 1);
}

/// The shape of a variable in the file, the boxes of each rank in some memory order, and some
/// elements that no rank holds.
struct Held {
    std::vector<std::int64_t> shape;
    std::vector<int> order;
    std::vector<std::vector<Box>> memory;    ///< boxes of each rank, in memory order
    std::vector<std::vector<HeldBox>> file;  ///< boxes of each rank, in file order
};

Held random_held(Random& random) {
    Held held;
    const auto nd = static_cast<std::size_t>(random.between(1, 4));
    Box all;
    all.nd = static_cast<int>(nd);
    for (std::size_t d = 0; d < nd; ++d) {
        held.shape.push_back(random.between(1, 6));
        all.count[d] = held.shape[d];
    }
    held.order.resize(nd);
    std::iota(held.order.begin(), held.order.end(), 0);
    random.shuffle(held.order);
    std::vector<Box> boxes;
    cut(random, all, boxes, 5);
    random.shuffle(boxes);
    held.memory.resize(static_cast<std::size_t>(random.between(1, 5)));
    for (const Box& box : boxes) {
        if (random.percent(10)) continue;
        Box in_memory = box;
        for (std::size_t f = 0; f < nd; ++f) {
            in_memory.low[held.order[f]] = box.low[f];
            in_memory.count[held.order[f]] = box.count[f];
        }
        auto& rank = held.memory[static_cast<std::size_t>(
            random.below(static_cast<std::int64_t>(held.memory.size())))];
        rank.push_back(in_memory);
        if (random.percent(10)) {
            Box empty;
            empty.nd = all.nd;
            rank.push_back(empty);
        }
    }
    for (const auto& blocks : held.memory)
        held.file.push_back(in_file_order(blocks, held.order, held.shape));
    return held;
}

TEST(InFileOrder, SortedSwappedAndWithoutEmptyBoxes) {
    Box a, b, empty;
    a.nd = b.nd = empty.nd = 2;
    a.low = {2, 5};
    a.count = {3, 4};  // memory (x, y)
    b.low = {0, 1};
    b.count = {2, 2};
    empty.low = {1, 1};
    empty.count = {0, 3};
    const std::vector<Box> blocks{a, empty, b};
    const int order[] = {1, 0};  // file (y, x)
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

/// The parts of all ranks in a range must be exactly the held elements of the range.
TEST(ForParts, EveryHeldElementOnce) {
    Random random(1);
    for (int i = 0; i < 2000; ++i) {
        SCOPED_TRACE(i);
        const Held held = random_held(random);
        const std::int64_t n = volume(held.shape);
        std::vector<int> owner(static_cast<std::size_t>(n), -1);
        for (std::size_t r = 0; r < held.file.size(); ++r)
            for (const HeldBox& h : held.file[r])
                for_parts(held.shape, {0, n}, {&h, 1}, [&](const HeldBox&, const Box& part) {
                    for (std::int64_t e = 0; e < n; ++e) {
                        const Index stride = strides_of(held.shape);
                        bool in = true;
                        for (int d = 0; d < part.nd; ++d) {
                            const std::int64_t x =
                                e / stride[d] % held.shape[static_cast<std::size_t>(d)];
                            in &= x >= part.low[d] && x < part.low[d] + part.count[d];
                        }
                        if (in) owner[static_cast<std::size_t>(e)] = static_cast<int>(r);
                    }
                });
        const std::int64_t begin = random.below(n), end = random.between(begin, n);
        std::vector<int> seen(static_cast<std::size_t>(n), 0);
        for (std::size_t r = 0; r < held.file.size(); ++r)
            for_parts(
                held.shape, {begin, end}, held.file[r], [&](const HeldBox& h, const Box& part) {
                    Index at = part.low;
                    for (std::int64_t e = 0; e < part.volume(); ++e) {
                        const std::int64_t position = linear(held.shape, at);
                        ASSERT_GE(position, begin);
                        ASSERT_LT(position, end);
                        ASSERT_EQ(owner[static_cast<std::size_t>(position)], static_cast<int>(r));
                        for (int d = 0; d < part.nd; ++d) {
                            ASSERT_GE(at[d], h.box.low[d]);
                            ASSERT_LT(at[d], h.box.low[d] + h.box.count[d]);
                        }
                        ++seen[static_cast<std::size_t>(position)];
                        for (int d = part.nd - 1; d >= 0 && ++at[d] == part.low[d] + part.count[d];
                             --d)
                            at[d] = part.low[d];
                    }
                });
        for (std::int64_t e = 0; e < n; ++e) {
            const auto at = static_cast<std::size_t>(e);
            ASSERT_EQ(seen[at], owner[at] >= 0 && e >= begin && e < end);
        }
    }
}

/// The receiver knows the boxes in file order only. It must find the same parts as the sender, in
/// the same order.
TEST(ForParts, SenderAndReceiverAgree) {
    Random random(2);
    for (int i = 0; i < 1000; ++i) {
        const Held held = random_held(random);
        const std::int64_t n = volume(held.shape);
        for (const auto& sender : held.file) {
            std::vector<HeldBox> receiver;
            for (const HeldBox& h : sender) {
                HeldBox copy;
                copy.box.nd = h.box.nd;
                Index last{};
                for (int d = 0; d < h.box.nd; ++d) {
                    copy.box.low[d] = h.box.low[d];
                    copy.box.count[d] = h.box.count[d];
                    last[d] = h.box.low[d] + h.box.count[d] - 1;
                }
                copy.first = linear(held.shape, copy.box.low);
                copy.last = linear(held.shape, last);
                receiver.push_back(copy);
            }
            const std::int64_t begin = random.below(n);
            const ElementRange range{begin, random.between(begin, n)};
            std::vector<Box> sent, received;
            for_parts(held.shape, range, sender,
                      [&](const HeldBox&, const Box& part) { sent.push_back(part); });
            for_parts(held.shape, range, receiver,
                      [&](const HeldBox&, const Box& part) { received.push_back(part); });
            ASSERT_EQ(sent.size(), received.size());
            for (std::size_t k = 0; k < sent.size(); ++k)
                for (int d = 0; d < sent[k].nd; ++d) {
                    ASSERT_EQ(sent[k].low[d], received[k].low[d]);
                    ASSERT_EQ(sent[k].count[d], received[k].count[d]);
                }
        }
    }
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
