// Tests layouts with random spaces, writers and alignments.
//
// SPDX-License-Identifier: Apache-2.0
#include "layout/layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "layout/grid.hpp"
#include "system/random.hpp"

using namespace thalweg::detail;

namespace {

/// Makes adjacent places as netCDF does for fixed-size variables or for one record.
FileSection random_space(Random& random, std::int64_t longest) {
    FileSection space;
    const std::int64_t n = random.between(1, 6);
    std::vector<std::int64_t> lengths;  // length of each dimension
    for (int d = 0; d < 5; ++d) lengths.push_back(random.between(1, longest));
    for (std::int64_t i = 0; i < n; ++i) {
        VariableSlot p;
        p.variable = static_cast<int>(i);
        p.offset = space.bytes;
        p.element = random.pick<std::int64_t>({1, 2, 4, 8});
        const std::int64_t nd = random.below(5);
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

/// Returns the byte ranges of the whole space that a share contains.
std::vector<Extent> bytes_of(const Share& share, const FileSection& whole) {
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
        const VariableSlot& p = whole.places[i];
        const VariableSlot& seen = share.space().places[i];
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
std::int64_t length_of(const FileSection& space, int dim) {
    for (const VariableSlot& p : space.places)
        for (std::size_t d = 0; d < p.dims.size(); ++d)
            if (p.dims[d] == dim) return p.shape[d];
    return 1;
}

Grid random_grid(Random& random, const FileSection& space) {
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
    const char* method = "";
    FileSection space;
    std::unique_ptr<Layout> layout;
    std::int64_t base = 0, alignment = 0;
    std::vector<std::vector<Extent>> shares;
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
    out << c.method << " of " << c.layout->writers() << " writers, base " << c.base
        << ", alignment " << c.alignment << ", places";
    for (const VariableSlot& p : c.space.places)
        out << " [" << p.offset << "+" << p.bytes << "/" << p.padded << " of " << p.element << "]";
    return out;
}

Case random_case(Random& random) {
    Case c;
    c.space = random_space(random, random.pick<std::int64_t>({3, 20, 60}));
    const int writers = static_cast<int>(random.between(1, 20));
    c.alignment =
        random.percent(20) ? random.between(1, 5000) : std::int64_t(1) << random.between(0, 20);
    const auto method = random.below(4);
    c.method = std::array{"serial", "slabs", "tiles", "record", "record in parts"}[method];
    switch (method) {
        case 0: c.layout = make_record_layout(1, 1); break;
        case 1: c.layout = make_slabs_layout(writers); break;
        case 2: c.layout = make_grid_layout(random_grid(random, c.space)); break;
        case 3: c.layout = make_record_layout(writers, c.alignment); break;
        default:
            c.layout = make_record_layout(writers, 1, c.space.bytes / random.between(1, 20) + 1);
            break;
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
                for (const VariableSlot& p : c.space.places)
                    for (std::int64_t cut : {e.begin, e.end})
                        if (cut > p.offset && cut < p.offset + p.padded) {
                            ASSERT_LT(cut, p.offset + p.bytes);
                            ASSERT_EQ((cut - p.offset) % p.element, 0);
                            if (std::string(c.method) != "slabs") continue;
                            // Slabs are whole rows of the slowest dimension.
                            ASSERT_FALSE(p.shape.empty());
                            ASSERT_EQ((cut - p.offset) % (p.bytes / p.shape.front()), 0);
                        }
    });
}

TEST(Layout, ReachHoldsTheShareForAnyBase) {
    const auto check_reach = [](const Layout& layout, const FileSection& space, std::int64_t base) {
        for (int w = 0; w < layout.writers(); ++w) {
            const auto reach = bytes_of(layout.reach(w, space), space);
            const auto share = bytes_of(layout.share(w, space, base), space);
            const auto common = intersect(share, reach);
            ASSERT_EQ(common.size(), share.size()) << w;
            for (std::size_t i = 0; i < share.size(); ++i)
                ASSERT_EQ(common[i].size(), share[i].size()) << w;
        }
    };
    for_cases(4, 5000, [&](const Case& c, Random&) { check_reach(*c.layout, c.space, c.base); });
    // Places that must not be divided, with padding, such as small chunks.
    Random random(5);
    for (int i = 0; i < 5000; ++i) {
        FileSection space;
        for (int n = static_cast<int>(random.between(1, 6)); n > 0; --n) {
            const std::int64_t bytes = random.between(1, 12);
            VariableSlot p{n, space.bytes, bytes, (bytes + 7) / 8 * 8, 1, {bytes}};
            p.grain = bytes;
            space.bytes += p.padded;
            space.places.push_back(std::move(p));
        }
        const auto layout = make_record_layout(static_cast<int>(random.between(1, 6)), 1);
        ASSERT_NO_FATAL_FAILURE(check_reach(*layout, space, 8 * random.below(100)));
    }
}

/// Returns a random box of a place.
Box random_box(Random& random, const VariableSlot& p) {
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
            const VariableSlot& p = c.space.places[i];
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

TEST(GridLayout, FilesOfTheirOwnAreDenseAndPadded) {
    Random random(11);
    for (int i = 0; i < 500; ++i) {
        const FileSection space = random_space(random, 12);
        Grid grid = random_grid(random, space);
        grid.own_files = true;
        const auto layout = make_grid_layout(grid);
        for (int w = 0; w < layout->writers(); ++w) {
            const Share share = layout->share(w, space, 0);
            std::int64_t at = 0;
            for (const VariableSlot& p : share.space().places) {
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
            const VariableSlot& p = c.space.places[i];
            for (int w = 0; w < c.layout->writers(); ++w) {
                const Share share = c.layout->share(w, c.space, c.base);
                const VariableSlot& seen = share.space().places[i];
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

TEST(RecordLayout, CutsAreAlignedInTheFile) {
    for_cases(5, 10'000, [](const Case& c, Random&) {
        if (std::string(c.method) != "record") return;
        for (const auto& share : c.shares) {
            ASSERT_LE(share.size(), 1U);
            for (const Extent& e : share) {
                if (e.end == c.space.bytes) continue;
                const VariableSlot& p = c.space.places[c.space.place_at(e.end)];
                const std::int64_t next =
                    (c.base + e.end + c.alignment - 1) / c.alignment * c.alignment;
                // The cut is within an element, or within its padding.
                ASSERT_LE(next - (c.base + e.end), p.element - 1 + p.padded - p.bytes);
            }
        }
    });
}

TEST(FileSection, ElementBoundary) {
    Random random(7);
    for (int i = 0; i < 300; ++i) {
        const FileSection space = random_space(random, 5);
        for (std::int64_t byte = 0; byte <= space.bytes; ++byte) {
            const std::int64_t cut = space.element_boundary(byte);
            ASSERT_LE(cut, byte);
            if (byte == space.bytes) {
                ASSERT_EQ(cut, byte);
                continue;
            }
            const VariableSlot& p = space.places[space.place_at(byte)];
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
    FileSection space;
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

}  // namespace
