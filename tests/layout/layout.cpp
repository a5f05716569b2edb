// SPDX-License-Identifier: Apache-2.0
#include "layout/layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "layout/writers.hpp"
#include "system/random.hpp"

using namespace thalweg;

namespace {

/// Places one behind the other, as netCDF lays out the fixed-size variables or one record.
Space random_space(Random& random, std::int64_t longest) {
    Space space;
    const std::int64_t n = random.between(1, 6);
    for (std::int64_t i = 0; i < n; ++i) {
        Place p;
        p.variable = static_cast<int>(i);
        p.offset = space.bytes;
        p.element = random.pick<std::int64_t>({1, 2, 4, 8});
        const std::int64_t nd = random.below(4);
        std::int64_t elements = 1;
        for (std::int64_t d = 0; d < nd; ++d) {
            p.shape.push_back(random.between(1, longest));
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
    switch (random.below(3)) {
        case 0: c.layout = make_serial_layout(); break;
        case 1: c.layout = make_slabs_layout(writers); break;
        default: c.layout = make_record_layout(writers, c.alignment); break;
    }
    c.base = random.pick<std::int64_t>({0, 4, 320, 8192, 5'000'000'000, 123'456'788}) +
             (random.percent(50) ? 4 * random.below(3000) : 0);
    for (int w = 0; w < c.layout->writers(); ++w)
        c.shares.push_back(c.layout->share(w, c.space, c.base));
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

TEST(Layout, WritersOfContainsTheOwnersForAnyBase) {
    for_cases(3, 5000, [](const Case& c, Random& random) {
        for (std::size_t i = 0; i < c.space.places.size(); ++i) {
            const Place& p = c.space.places[i];
            const std::int64_t n = p.bytes / p.element;
            const std::int64_t first = random.below(n), last = random.between(first, n - 1);
            const Extent range{p.offset + first * p.element, p.offset + (last + 1) * p.element};
            const auto [low, high] = c.layout->writers_of(c.space, i, range);
            ASSERT_GE(low, 0);
            ASSERT_LT(high, c.layout->writers());
            for (int w = 0; w < c.layout->writers(); ++w)
                for (const Extent& e : c.shares[static_cast<std::size_t>(w)])
                    if (std::max(e.begin, range.begin) < std::min(e.end, range.end)) {
                        ASSERT_LE(low, w);
                        ASSERT_GE(high, w);
                    }
        }
    });
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
                // The boundary lies in the element at which the cut is, or in its padding.
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
        const auto share = layout->share(w, space, 8192);
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
        const auto share = layout->share(w, space, 1 << 20);
        ASSERT_EQ(share.size(), 1U);
        ASSERT_EQ(share[0].begin, position);
        position = share[0].end;
        const auto [low, high] = layout->writers_of(space, 0, share[0]);
        ASSERT_LE(low, w);
        ASSERT_GE(high, w);
        ASSERT_LE(high - low, 2);
    }
    EXPECT_EQ(position, bytes);
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
    };
    const Row rows[] = {{"1", 1, false},       {"16", 16, false},   {"2/node", 2, true},
                        {"", 0, false},        {"0", 0, false},     {"-3", 0, false},
                        {"0/node", 0, false},  {"/node", 0, false}, {"2/nodes", 0, false},
                        {"2 /node", 0, false}, {"two", 0, false},   {"99999999999", 0, false},
                        {"3x", 0, false},      {"1.5", 0, false}};
    for (const Row& row : rows) {
        const WriterCount count = parse_writers(row.text);
        EXPECT_EQ(count.number, row.number) << row.text;
        EXPECT_EQ(count.per_node, row.per_node) << row.text;
    }
}

}  // namespace
