// SPDX-License-Identifier: Apache-2.0
#include "layout/layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "layout/grid.hpp"
#include "layout/writers.hpp"
#include "system/random.hpp"

using namespace thalweg::detail;

namespace {

/// Makes adjacent places as netCDF does for fixed-size variables or for one record.
Space random_space(Random& random, std::int64_t longest) {
    Space space;
    const std::int64_t n = random.between(1, 6);
    std::vector<std::int64_t> lengths;  // length of each dimension
    for (int d = 0; d < 5; ++d) lengths.push_back(random.between(1, longest));
    for (std::int64_t i = 0; i < n; ++i) {
        Place p;
        p.variable = static_cast<int>(i);
        p.offset = space.bytes;
        p.element = random.pick<std::int64_t>({1, 2, 4, 8});
        const std::int64_t nd = random.below(4);
        std::int64_t elements = 1;
        std::vector<int> dims{0, 1, 2, 3, 4};
        random.shuffle(dims);
        p.dims.assign(dims.begin(), dims.begin() + nd);
        for (const int d : p.dims) {
            p.shape.push_back(lengths[static_cast<std::size_t>(d)]);
            elements *= p.shape.back();
        }
        p.bytes = elements * p.element;
        p.padded = (p.bytes + 3) / 4 * 4;
        // The only variable of a record has no padding.
        if (n == 1 && random.percent(50)) p.padded = p.bytes;
        space.bytes += p.padded;
        space.places.push_back(std::move(p));
    }
    return space;
}

/// Returns the ranges of the whole space that a share contains.
std::vector<Extent> bytes_of(const Share& share, const Space& whole) {
    if (!share.boxed()) return share.extents();
    EXPECT_EQ(share.extents().size(), share.space().bytes > 0 ? 1U : 0U);
    std::vector<Extent> result;
    auto add = [&](std::int64_t begin, std::int64_t end) {
        if (!result.empty() && result.back().end == begin)
            result.back().end = end;
        else
            result.push_back({begin, end});
    };
    for (std::size_t i = 0; i < whole.places.size(); ++i) {
        const Place& p = whole.places[i];
        const Place& seen = share.space().places[i];
        if (seen.bytes == 0) continue;
        Box box;
        box.nd = static_cast<int>(seen.shape.size());
        box = share.placed(i, box);
        const std::int64_t line = seen.shape.empty() ? 1 : seen.shape.back();
        Index at = box.low;
        for (bool more = true; more;) {
            const std::int64_t begin = p.offset + linear(p.shape, at) * p.element;
            add(begin, begin + line * p.element);
            int d = box.nd - 2;
            while (d >= 0 && ++at[d] == box.low[d] + seen.shape[static_cast<std::size_t>(d)]) {
                at[d] = box.low[d];
                --d;
            }
            more = d >= 0;
        }
        if (seen.padded > seen.bytes) {
            EXPECT_EQ(result.back().end, p.offset + p.bytes);
            add(result.back().end, result.back().end + seen.padded - seen.bytes);
        }
    }
    return result;
}

/// Returns the length of a dimension; 1 if no place has it.
std::int64_t length_of(const Space& space, int dim) {
    for (const Place& p : space.places)
        for (std::size_t d = 0; d < p.dims.size(); ++d)
            if (p.dims[d] == dim) return p.shape[d];
    return 1;
}

Grid random_grid(Random& random, const Space& space) {
    Grid grid;
    grid.rows = static_cast<int>(random.between(1, 5));
    grid.columns = static_cast<int>(random.between(1, 5));
    std::vector<int> dims{0, 1, 2, 3, 4};
    random.shuffle(dims);
    auto cut = [&](int dim, int parts) {
        Cut c{dim, {0}};
        for (int k = 1; k < parts; ++k)
            c.begin.push_back(random.between(0, length_of(space, dim) - 1));
        std::sort(c.begin.begin(), c.begin.end());
        return c;
    };
    const std::size_t y = random.between(0, 2), x = random.between(0, 2);
    for (std::size_t i = 0; i < y; ++i) grid.y.push_back(cut(dims[i], grid.rows));
    for (std::size_t i = y; i < y + x; ++i) grid.x.push_back(cut(dims[i], grid.columns));
    return grid;
}

struct Case {
    Space space;
    std::unique_ptr<Layout> layout;
    std::int64_t base = 0, alignment = 0;
    std::vector<std::vector<Extent>> shares;
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
    out << c.layout->name() << " of " << c.layout->writers() << " writers, base " << c.base
        << ", alignment " << c.alignment << ", places";
    for (const Place& p : c.space.places)
        out << " [" << p.offset << "+" << p.bytes << "/" << p.padded << " of " << p.element << "]";
    return out;
}

Case random_case(Random& random) {
    Case c;
    c.space = random_space(random, random.pick<std::int64_t>({3, 20, 60}));
    const int writers = static_cast<int>(random.between(1, 20));
    c.alignment =
        random.percent(20) ? random.between(1, 5000) : std::int64_t(1) << random.between(0, 20);
    switch (random.below(4)) {
        case 0: c.layout = make_serial_layout(); break;
        case 1: c.layout = make_slabs_layout(writers); break;
        case 2: c.layout = make_grid_layout("tiles", random_grid(random, c.space)); break;
        default: c.layout = make_record_layout(writers, c.alignment); break;
    }
    c.base = random.pick<std::int64_t>({0, 4, 320, 8192, 5'000'000'000, 123'456'788}) +
             (random.percent(50) ? 4 * random.below(3000) : 0);
    for (int w = 0; w < c.layout->writers(); ++w)
        c.shares.push_back(bytes_of(c.layout->share(w, c.space, c.base), c.space));
    EXPECT_TRUE(c.layout->share(c.layout->writers(), c.space, c.base).extents().empty());
    return c;
}

template <class Check>
void for_cases(std::uint64_t seed, int n, Check&& check) {
    Random random(seed);
    for (int i = 0; i < n; ++i) {
        const Case c = random_case(random);
        SCOPED_TRACE(testing::Message() << c);
        ASSERT_NO_FATAL_FAILURE(check(c, random));
    }
}

TEST(Layout, SharesAreDisjointAndCoverTheSpace) {
    for_cases(1, 5000, [](const Case& c, Random&) {
        std::vector<Extent> all;
        for (const auto& share : c.shares) {
            for (std::size_t i = 0; i < share.size(); ++i) {
                ASSERT_LT(share[i].begin, share[i].end);
                if (i > 0) {
                    ASSERT_GT(share[i].begin, share[i - 1].end);
                }
                all.push_back(share[i]);
            }
        }
        std::sort(all.begin(), all.end(),
                  [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
        std::int64_t position = 0;
        for (const Extent& e : all) {
            ASSERT_EQ(e.begin, position);
            position = e.end;
        }
        ASSERT_EQ(position, c.space.bytes);
    });
}

TEST(Layout, NoElementAndNoPaddingIsSplit) {
    for_cases(2, 5000, [](const Case& c, Random&) {
        for (const auto& share : c.shares)
            for (const Extent& e : share)
                for (const Place& p : c.space.places)
                    for (std::int64_t cut : {e.begin, e.end})
                        if (cut > p.offset && cut < p.offset + p.padded) {
                            ASSERT_LT(cut, p.offset + p.bytes);
                            ASSERT_EQ((cut - p.offset) % p.element, 0);
                        }
    });
}

TEST(Layout, ReachHoldsTheShareForAnyBase) {
    const auto check_reach = [](const Layout& layout, const Space& space, std::int64_t base) {
        for (int w = 0; w < layout.writers(); ++w) {
            const auto reach = bytes_of(layout.reach(w, space), space);
            for (const Extent& e : bytes_of(layout.share(w, space, base), space)) {
                const auto common = intersect(std::vector<Extent>{e}, reach);
                ASSERT_EQ(common.size(), 1U) << w;
                ASSERT_EQ(common[0].size(), e.size()) << w;
            }
        }
    };
    for_cases(4, 5000, [&](const Case& c, Random&) { check_reach(*c.layout, c.space, c.base); });
    // Places that must not be divided, with padding, such as small chunks.
    Random random(5);
    for (int i = 0; i < 5000; ++i) {
        Space space;
        for (int n = static_cast<int>(random.between(1, 6)); n > 0; --n) {
            const std::int64_t bytes = random.between(1, 12);
            Place p{n, space.bytes, bytes, (bytes + 7) / 8 * 8, 1, {bytes}};
            p.grain = bytes;
            space.bytes += p.padded;
            space.places.push_back(std::move(p));
        }
        const auto layout = make_record_layout(static_cast<int>(random.between(1, 6)), 1);
        ASSERT_NO_FATAL_FAILURE(check_reach(*layout, space, 8 * random.below(100)));
    }
}

/// Returns a random box of a place.
Box random_box(Random& random, const Place& p) {
    Box box;
    box.nd = static_cast<int>(p.shape.size());
    for (std::size_t d = 0; d < p.shape.size(); ++d) {
        box.low[d] = random.below(p.shape[d]);
        box.count[d] = random.between(1, p.shape[d] - box.low[d]);
    }
    return box;
}

TEST(Layout, WritersOfABoxContainItsOwnersForAnyBase) {
    for_cases(3, 3000, [](const Case& c, Random& random) {
        for (std::size_t i = 0; i < c.space.places.size(); ++i) {
            const Place& p = c.space.places[i];
            const Box box = random_box(random, p);
            std::set<int> writers;
            c.layout->add_writers(c.space, i, box, writers);
            ASSERT_FALSE(writers.empty());
            ASSERT_GE(*writers.begin(), 0);
            ASSERT_LT(*writers.rbegin(), c.layout->writers());
            Index at = box.low;
            for (bool more = true; more;) {
                const std::int64_t begin = p.offset + linear(p.shape, at) * p.element;
                const std::int64_t n = box.nd == 0 ? 1 : box.count[box.nd - 1];
                for (int w = 0; w < c.layout->writers(); ++w)
                    for (const Extent& e : c.shares[static_cast<std::size_t>(w)])
                        if (std::max(e.begin, begin) < std::min(e.end, begin + n * p.element)) {
                            ASSERT_TRUE(writers.contains(w)) << w;
                        }
                int d = box.nd - 2;
                while (d >= 0 && ++at[d] == box.low[d] + box.count[d]) {
                    at[d] = box.low[d];
                    --d;
                }
                more = d >= 0 && !random.percent(2);
            }
        }
    });
}

TEST(GridLayout, AWriterOwnsItsPartOfEveryVariable) {
    Space space;
    space.bytes = 4 * (3 * 10 * 8 + 8);
    space.places.push_back({0, 0, 960, 960, 4, {3, 10, 8}, {5, 1, 2}});
    space.places.push_back({1, 960, 32, 32, 4, {8}, {2}});
    Grid grid;
    grid.rows = grid.columns = 2;
    grid.y.push_back({1, {0, 7}});
    grid.x.push_back({2, {0, 3}});
    const auto layout = make_grid_layout("tiles", grid);
    const Share share = layout->share(3, space, 0);
    EXPECT_EQ(share.space().places[0].shape, (std::vector<std::int64_t>{3, 3, 5}));
    Box box;
    box.nd = 3;
    EXPECT_EQ(share.placed(0, box).low[1], 7);
    EXPECT_EQ(share.placed(0, box).low[2], 3);
    // Along y the 1-D variable has one owner; in separate files, each row contains it.
    EXPECT_EQ(share.space().places[1].bytes, 20);
    EXPECT_EQ(layout->share(1, space, 0).space().places[1].bytes, 0);
    grid.own_files = true;
    const auto files = make_grid_layout("tiles", grid);
    EXPECT_EQ(files->share(1, space, 0).space().places[1].bytes, 20);
    std::set<int> met;
    box.nd = 1;
    box.count[0] = 3;
    files->add_writers(space, 1, box, met);
    EXPECT_EQ(met, (std::set<int>{0, 2}));
}

TEST(GridLayout, FilesOfTheirOwnAreDenseAndPadded) {
    Random random(11);
    for (int i = 0; i < 500; ++i) {
        const Space space = random_space(random, 12);
        Grid grid = random_grid(random, space);
        grid.own_files = true;
        const auto layout = make_grid_layout("tiles", grid);
        for (int w = 0; w < layout->writers(); ++w) {
            const Share share = layout->share(w, space, 0);
            std::int64_t at = 0;
            for (const Place& p : share.space().places) {
                EXPECT_EQ(p.offset, at);
                EXPECT_EQ(p.bytes, p.bytes == 0 ? 0 : volume(p.shape) * p.element);
                EXPECT_EQ(p.padded, (p.bytes + 3) / 4 * 4);
                at += p.padded;
            }
            EXPECT_EQ(share.space().bytes, at);
        }
    }
}

TEST(Share, PositionsGoThereAndBack) {
    for_cases(9, 1000, [](const Case& c, Random& random) {
        for (std::size_t i = 0; i < c.space.places.size(); ++i) {
            const Place& p = c.space.places[i];
            for (int w = 0; w < c.layout->writers(); ++w) {
                const Share share = c.layout->share(w, c.space, c.base);
                const Place& seen = share.space().places[i];
                const std::int64_t n = p.bytes / p.element, own = seen.bytes / seen.element;
                const std::int64_t begin = random.below(n), end = random.between(begin, n);
                const ElementRange within = share.within(i, {begin, end});
                ASSERT_GE(within.begin, 0);
                ASSERT_LE(within.begin, within.end);
                ASSERT_LE(within.end, own);
                if (within.begin < within.end) {
                    const ElementRange reach = share.reach(i, within);
                    ASSERT_GE(reach.begin, begin);
                    ASSERT_LE(reach.end, end);
                }
                // The elements before and after the range are outside the share.
                if (within.begin > 0 && own > 0) {
                    ASSERT_LT(share.reach(i, {within.begin - 1, within.begin}).begin, begin);
                }
                if (within.end < own) {
                    ASSERT_GE(share.reach(i, {within.end, within.end + 1}).begin, end);
                }
            }
        }
    });
}

TEST(Grid, CutsAtBlockStartsOrEvenly) {
    const std::vector<std::int64_t> starts{0, 5, 9, 30, 31};
    EXPECT_EQ(cut_dimension(starts, 40, 5), starts);
    EXPECT_EQ(cut_dimension(starts, 40, 2), (std::vector<std::int64_t>{0, 9}));
    EXPECT_EQ(cut_dimension(starts, 40, 1), (std::vector<std::int64_t>{0}));
    EXPECT_EQ(cut_dimension(starts, 40, 8),
              (std::vector<std::int64_t>{0, 5, 10, 15, 20, 25, 30, 35}));
}

TEST(RecordLayout, CutsAreAlignedInTheFile) {
    for_cases(5, 10'000, [](const Case& c, Random&) {
        if (std::string(c.layout->name()) != "record") return;
        for (const auto& share : c.shares) {
            ASSERT_LE(share.size(), 1U);
            for (const Extent& e : share) {
                if (e.end == c.space.bytes) continue;
                const Place& p = c.space.places[c.space.place_at(e.end)];
                const std::int64_t next =
                    (c.base + e.end + c.alignment - 1) / c.alignment * c.alignment;
                // The cut is within an element, or within its padding.
                ASSERT_LE(next - (c.base + e.end), p.element - 1 + p.padded - p.bytes);
            }
        }
    });
}

TEST(RecordLayout, SharesAreEven) {
    Space space;
    space.bytes = 1 << 24;
    space.places.push_back({0, 0, space.bytes, space.bytes, 4, {1 << 22}});
    const auto layout = make_record_layout(7, 4096);
    for (int w = 0; w < 7; ++w) {
        const auto share = layout->share(w, space, 8192).extents();
        ASSERT_EQ(share.size(), 1U);
        EXPECT_NEAR(static_cast<double>(share[0].size()), (1 << 24) / 7.0, 4096 + 1);
    }
}

TEST(RecordLayout, BeyondTwoToThe31) {
    Space space;
    const std::int64_t bytes = std::int64_t(1) << 40;
    space.bytes = bytes;
    space.places.push_back({0, 0, bytes, bytes, 8, {1 << 20, 1 << 17}});
    const auto layout = make_record_layout(1000, 1 << 20);
    std::int64_t position = 0;
    for (int w = 0; w < 1000; ++w) {
        const auto share = layout->share(w, space, 1 << 20).extents();
        ASSERT_EQ(share.size(), 1U);
        ASSERT_EQ(share[0].begin, position);
        position = share[0].end;
        Box row;
        row.nd = 2;
        row.low[0] = share[0].begin / (std::int64_t(8) << 17);
        row.count[0] = 1;
        row.count[1] = 1 << 17;
        std::set<int> met;
        layout->add_writers(space, 0, row, met);
        ASSERT_TRUE(met.contains(w));
        ASSERT_LE(met.size(), 3U);
    }
    EXPECT_EQ(position, bytes);
}

/// With many writers, a rank must not have to consider all writers within the alignment of its
/// elements.
TEST(RecordLayout, ManyWritersOfLittleAreNotAllMet) {
    constexpr std::int64_t alignment = 1 << 20;
    Space space;
    space.bytes = 50 * alignment;
    space.places.push_back({0, 0, space.bytes, space.bytes, 4, {50 << 18}});
    const auto layout = make_record_layout(2048, alignment);
    Box one;
    one.nd = 1;
    one.low[0] = 25 << 18;
    one.count[0] = 1;
    std::set<int> met;
    layout->add_writers(space, 0, one, met);
    EXPECT_LE(met.size(), 12U);
    for (const std::int64_t base : {std::int64_t(0), 3 * alignment / 4, 7 * alignment + 4}) {
        int writing = 0;
        for (int w = 0; w < 2048; ++w) {
            const auto share = layout->share(w, space, base).extents();
            for (const Extent& e : share) {
                ++writing;
                EXPECT_LE(e.size(), alignment * 5 / 4);
                const bool has = e.begin <= 25 * alignment && 25 * alignment < e.end;
                EXPECT_TRUE(!has || met.contains(w));
            }
        }
        EXPECT_GE(writing, 50);
    }
}

TEST(SlabsLayout, WholeRowsOfTheSlowestDimension) {
    for_cases(6, 3000, [](const Case& c, Random&) {
        if (std::string(c.layout->name()) != "slabs") return;
        for (const auto& share : c.shares)
            for (const Extent& e : share)
                for (const Place& p : c.space.places)
                    for (std::int64_t cut : {e.begin, e.end})
                        if (cut > p.offset && cut < p.offset + p.padded) {
                            ASSERT_FALSE(p.shape.empty());
                            ASSERT_EQ((cut - p.offset) % (p.bytes / p.shape.front()), 0);
                        }
    });
}

TEST(Space, ElementBoundary) {
    Random random(7);
    for (int i = 0; i < 300; ++i) {
        const Space space = random_space(random, 5);
        for (std::int64_t byte = 0; byte <= space.bytes; ++byte) {
            const std::int64_t cut = space.element_boundary(byte);
            ASSERT_LE(cut, byte);
            if (byte == space.bytes) {
                ASSERT_EQ(cut, byte);
                continue;
            }
            const Place& p = space.places[space.place_at(byte)];
            ASSERT_GE(byte, p.offset);
            ASSERT_LT(byte, p.offset + p.padded);
            const std::int64_t last = p.offset + p.bytes - p.element;
            ASSERT_EQ(cut, byte >= p.offset + p.bytes
                               ? last
                               : p.offset + (byte - p.offset) / p.element * p.element);
        }
    }
}

TEST(Extents, JoinsWantedPlaces) {
    Space space;
    for (int i = 0; i < 5; ++i) space.places.push_back({i, 10 * i, 10, 10, 1, {10}});
    space.bytes = 50;
    const auto extents = extents_of(space, {1, 1, 0, 1, 0});
    ASSERT_EQ(extents.size(), 2U);
    EXPECT_EQ(extents[0].begin, 0);
    EXPECT_EQ(extents[0].end, 20);
    EXPECT_EQ(extents[1].begin, 30);
    EXPECT_EQ(extents[1].end, 40);
    EXPECT_TRUE(extents_of(space, {0, 0, 0, 0, 0}).empty());
}

TEST(Extents, IntersectionIsBytewise) {
    Random random(8);
    auto list = [&] {
        std::vector<Extent> result;
        for (std::int64_t at = random.below(4); at < 40;) {
            const std::int64_t end = at + random.between(1, 8);
            result.push_back({at, end});
            at = end + random.below(6);
        }
        return result;
    };
    auto within = [](const std::vector<Extent>& extents, std::int64_t byte) {
        return std::any_of(extents.begin(), extents.end(),
                           [&](const Extent& e) { return byte >= e.begin && byte < e.end; });
    };
    for (int i = 0; i < 2000; ++i) {
        const auto a = list(), b = list(), common = intersect(a, b);
        for (std::int64_t byte = 0; byte < 60; ++byte)
            ASSERT_EQ(within(common, byte), within(a, byte) && within(b, byte));
        for (std::size_t k = 0; k < common.size(); ++k) {
            ASSERT_GT(common[k].size(), 0);
            if (k > 0) {
                ASSERT_GE(common[k].begin, common[k - 1].end);
            }
        }
    }
}

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
