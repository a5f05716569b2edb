// SPDX-License-Identifier: Apache-2.0
#include "decomposition/decomposition.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <set>

#include "support/decompose.hpp"
#include "support/given.hpp"
#include "system/random.hpp"

using namespace thalweg::detail;

namespace {

std::shared_ptr<const Decomposition> made(Decomposition d) {
    std::shared_ptr<const Decomposition> result;
    const Status status = make_decomposition(*make_serial_comm(), std::move(d), result);
    EXPECT_TRUE(status.ok()) << status.text;
    return result;
}

Status refused(Decomposition d) {
    std::shared_ptr<const Decomposition> result;
    Status status = make_decomposition(*make_serial_comm(), std::move(d), result);
    EXPECT_EQ(result, nullptr);
    return status;
}

TEST(Decomposition, CountsAndOffsets) {
    Decomposition d =
        given({"y", "x"}, {10, 8},
              {box_of({0, 0}, {2, 3}), box_of({5, 5}, {0, 3}), box_of({4, 0}, {1, 8})});
    d.halo_low = {1, 0};
    d.halo_high = {1, 2};
    const auto m = made(d);
    EXPECT_EQ(m->held, 6 + 8);
    // An empty box has no halo either.
    EXPECT_EQ(m->stored, 4 * 5 + 3 * 10);
    ASSERT_EQ(m->starts.size(), 3);
    const std::int64_t with_halo[] = {0, 20, 20}, bare[] = {0, 6, 6};
    for (int b = 0; b < 3; ++b) {
        EXPECT_EQ(m->starts[b].with_halo, with_halo[b]);
        EXPECT_EQ(m->starts[b].bare, bare[b]);
    }
    EXPECT_FALSE(m->whole);
    EXPECT_FALSE(m->replicated);
}

TEST(Decomposition, BeyondTwoToThe31) {
    const std::int64_t n = std::int64_t(1) << 31;
    const auto m =
        made(given({"y", "x"}, {n, 4}, {box_of({0, 0}, {n, 2}), box_of({0, 2}, {n, 2})}));
    EXPECT_EQ(m->held, 4 * n);
    EXPECT_EQ(m->starts[1].with_halo, 2 * n);
    EXPECT_TRUE(m->whole);
}

TEST(Decomposition, BadArguments) {
    const Box good = box_of({0, 0}, {1, 1});
    EXPECT_EQ(refused(given({}, {}, {})).code, TW_EARG);
    EXPECT_EQ(refused(given({"x"}, {3, 4}, {})).code, TW_EARG);
    EXPECT_EQ(refused(given({"x", "x"}, {3, 4}, {good})).code, TW_ESHAPE);
    EXPECT_EQ(refused(given({"y", "x"}, {3, 0}, {})).code, TW_ESHAPE);
    EXPECT_EQ(refused(given({"y", "x"}, {3, -1}, {})).code, TW_ESHAPE);
    EXPECT_EQ(refused(given({"y", "x"}, {std::int64_t(1) << 40, std::int64_t(1) << 40}, {})).code,
              TW_ESHAPE);
    EXPECT_EQ(refused(given({"y", "x"}, {3, 4}, {box_of({0, 0}, {1, -1})})).code, TW_ESHAPE);
    Decomposition halo = given({"y", "x"}, {3, 4}, {good});
    halo.halo_high[1] = -1;
    EXPECT_EQ(refused(halo).code, TW_EARG);
    // Arrays that 64 bits cannot count: in one dimension, in all, and in all boxes together.
    halo.halo_high[1] = std::numeric_limits<std::int64_t>::max();
    EXPECT_EQ(refused(halo).code, TW_ESHAPE);
    halo.halo_low = halo.halo_high = {std::int64_t(1) << 31, std::int64_t(1) << 31};
    EXPECT_EQ(refused(halo).code, TW_ESHAPE);
    halo.halo_low = {std::int64_t(1) << 31, 0};
    halo.halo_high = {0, std::int64_t(1) << 31};
    EXPECT_EQ(made(halo)->stored, ((std::int64_t(1) << 31) + 1) * ((std::int64_t(1) << 31) + 1));
    halo.blocks.assign(2, good);
    halo.blocks[1].low = {1, 1};
    EXPECT_EQ(refused(halo).code, TW_ESHAPE);
    EXPECT_EQ(
        refused(given(std::vector<std::string>(17, "x"), std::vector<std::int64_t>(17, 1), {}))
            .code,
        TW_EARG);
}

TEST(Decomposition, Bounds) {
    auto code = [](std::int64_t low, std::int64_t count) {
        std::shared_ptr<const Decomposition> result;
        return make_decomposition(*make_serial_comm(), given({"x"}, {5}, {box_of({low}, {count})}),
                                  result)
            .code;
    };
    EXPECT_EQ(code(0, 5), TW_OK);
    Decomposition before = given({"x"}, {8}, {box_of({-1}, {3})});
    EXPECT_EQ(refused(before).text, "block 0, dimension 'x': start -1 is negative");
    before.wording.fortran = true;
    EXPECT_EQ(refused(before).text,
              "block 1, dimension 'x': start 0: in Fortran, starts count from 1");
    EXPECT_EQ(code(4, 1), TW_OK);
    EXPECT_EQ(code(5, 1), TW_EBOUNDS);
    EXPECT_EQ(code(-1, 2), TW_EBOUNDS);
    EXPECT_EQ(code(1, 5), TW_EBOUNDS);
    EXPECT_EQ(code(0, 6), TW_EBOUNDS);
    EXPECT_EQ(code(INT64_MAX, 5), TW_EBOUNDS);
    EXPECT_EQ(code(1, INT64_MAX), TW_EBOUNDS);
    EXPECT_EQ(code(100, 0), TW_OK);  // an empty box has no position
    const Status status = refused(given({"lat", "lon"}, {3, 4}, {box_of({0, 2}, {1, 3})}));
    for (const char* word : {"block 0", "start 2", "count 3", "'lon'", "4"})
        EXPECT_NE(status.text.find(word), std::string::npos) << status.text;
}

TEST(Decomposition, OverlapNamesElementAndBlocks) {
    const Status status =
        refused(given({"lat", "lon"}, {6, 6}, {box_of({0, 0}, {3, 3}), box_of({2, 2}, {2, 2})}));
    EXPECT_EQ(status.code, TW_EOVERLAP);
    for (const char* word : {"element (2, 2)", "lat lon", "block 0", "block 1"})
        EXPECT_NE(status.text.find(word), std::string::npos) << status.text;
}

TEST(Replicated, RankZeroHoldsAll) {
    const auto zero = replicate(0, {"y", "x"}, {3, 4});
    const auto other = replicate(2, {"y", "x"}, {3, 4});
    for (const auto& d : {zero, other}) {
        EXPECT_TRUE(d->replicated && d->whole);
        EXPECT_EQ(d->stored, 12);
    }
    EXPECT_EQ(zero->held, 12);
    EXPECT_EQ(other->held, 0);
    EXPECT_TRUE(other->blocks.empty());
    const auto scalar = replicate(0, {}, {});
    EXPECT_EQ(scalar->stored, 1);
    EXPECT_EQ(scalar->held, 1);
}

/// An array in memory order (y, x) with halos, for two blocks.
class Addresses : public testing::Test {
protected:
    Addresses() {
        Decomposition d =
            given({"y", "x"}, {10, 8}, {box_of({0, 0}, {2, 3}), box_of({4, 2}, {3, 4})});
        d.halo_low = {1, 2};
        d.halo_high = {3, 1};
        d_ = made(d);
        array_.data = memory_;
        array_.type = TW_INT;
    }
    std::shared_ptr<const Decomposition> d_;
    ArrayView array_;
    char memory_[8192] = {};
};

TEST_F(Addresses, Strided) {
    // Two slots of 7 x 7, the extents of the largest box with its halo; x is stored backwards.
    const std::int64_t extent[] = {2, 7, 7}, stride[] = {1000, 100, -8};
    ASSERT_TRUE(check_strided(*d_, 3, extent, stride, array_).ok());
    EXPECT_EQ(array_.form, Form::with_halo);
    // An array without halos.
    const std::int64_t bare[] = {2, 3, 4};
    ASSERT_TRUE(check_strided(*d_, 3, bare, stride, array_).ok());
    EXPECT_EQ(array_.form, Form::without_halo);
}

TEST_F(Addresses, StridedOfTheWrongForm) {
    const std::int64_t stride[] = {1000, 100, 8};
    auto code = [&](int rank, std::vector<std::int64_t> extent) {
        return check_strided(*d_, rank, extent.data(), stride, array_).code;
    };
    EXPECT_EQ(code(2, {7, 7}), TW_ESHAPE);     // two boxes need a dimension that counts them
    EXPECT_EQ(code(3, {1, 7, 7}), TW_ESHAPE);  // space for one box too few
    EXPECT_EQ(code(3, {3, 7, 7}), TW_ESHAPE);  // space for one box too many
    EXPECT_EQ(code(3, {2, 7, 8}), TW_ESHAPE);  // too large
    EXPECT_EQ(code(3, {2, 5, 6}), TW_ESHAPE);  // neither the extents with halo nor those without
    EXPECT_EQ(code(3, {2, 2, 4}), TW_ESHAPE);  // too small
    EXPECT_EQ(code(3, {2, 3, 3}), TW_ESHAPE);
    EXPECT_EQ(code(1, {7}), TW_ESHAPE);
    EXPECT_EQ(code(4, {2, 7, 7, 1}), TW_ESHAPE);
    EXPECT_EQ(check_strided(*d_, 3, nullptr, nullptr, array_).code, TW_EARG);
}

// An array whose dimensions are in another order: the message asks for the order that fits, if
// there is only one.
TEST(Arrays, AnotherOrder) {
    const auto text = [](Decomposition declared, std::vector<std::int64_t> extent) {
        const std::int64_t stride[] = {1000, 100, 8};
        ArrayView view;
        return check_strided(*made(declared), static_cast<int>(extent.size()), extent.data(),
                             stride, view)
            .text;
    };
    const auto of = [](std::vector<std::string> names, const Numbers& count) {
        return given(std::move(names), {30, 40, 50}, {box_of({0, 0, 0}, count)});
    };
    Decomposition d = of({"lev", "lat", "lon"}, {2, 3, 8});
    EXPECT_EQ(
        text(d, {8, 2, 3}),
        "the array is (8, 2, 3); this rank's part of (lev lat lon) is (2, 3, 8). Is the order "
        "of dimensions (lon lev lat)?");
    d.halo_low = {0, 1, 0};
    EXPECT_NE(text(d, {4, 2, 8}).find("Is the order of dimensions (lat lev lon)?"),
              std::string::npos);
    d.halo_low = {0, 0, 0};
    d.wording.fortran = true;
    EXPECT_EQ(
        text(d, {8, 2, 3}),
        "the array is (3, 2, 8); this rank's part of (lon lat lev) is (8, 3, 2). Is the order "
        "of dimensions (lat lev lon)?");
    for (const std::vector<std::int64_t>& extent :
         {std::vector<std::int64_t>{2, 3, 9}, {8, 3}, {2, 2, 8}})
        EXPECT_EQ(text(d, extent).find("order"), std::string::npos);
    EXPECT_EQ(text(of({"lev", "lat", "lon"}, {3, 3, 8}), {8, 3, 3}).find("order"),
              std::string::npos);
    EXPECT_EQ(text(of({"*", "*", "*"}, {2, 3, 8}), {8, 2, 3}).find("order"), std::string::npos);
}

TEST(Arrays, OneBoxMustFitExactly) {
    Decomposition d = given({"y", "x"}, {10, 8}, {box_of({1, 1}, {2, 3})});
    d.halo_low = d.halo_high = {1, 1};
    const auto m = made(d);
    ArrayView view;
    const std::int64_t stride[] = {40, 4};
    auto code = [&](std::int64_t a, std::int64_t b) {
        const std::int64_t extent[] = {a, b};
        return check_strided(*m, 2, extent, stride, view).code;
    };
    EXPECT_EQ(code(2, 3), TW_OK);
    EXPECT_EQ(view.form, Form::without_halo);
    EXPECT_EQ(code(4, 5), TW_OK);
    EXPECT_EQ(view.form, Form::with_halo);
    EXPECT_EQ(code(4, 3), TW_ESHAPE);
    EXPECT_EQ(code(3, 5), TW_ESHAPE);
    EXPECT_EQ(code(5, 6), TW_ESHAPE);
    EXPECT_TRUE(check_dense(*m, 20, view).ok());
    EXPECT_EQ(check_dense(*m, 6, view).code, TW_ESHAPE);
    EXPECT_EQ(check_dense(*m, 0, view).code, TW_ESHAPE);
}

TEST_F(Addresses, Padded) {
    Decomposition padded = *d_;
    padded.padded = {8, 9};
    padded.room = 4;
    const auto code = [&](std::vector<std::int64_t> extent) {
        const std::int64_t stride[] = {1000, 100, 8};
        return check_strided(padded, 3, extent.data(), stride, array_).code;
    };
    EXPECT_EQ(code({4, 8, 9}), TW_OK);
    EXPECT_EQ(array_.form, Form::with_halo);
    EXPECT_EQ(code({2, 8, 9}), TW_OK);
    EXPECT_EQ(code({4, 4, 6}), TW_OK);
    EXPECT_EQ(array_.form, Form::without_halo);
    EXPECT_EQ(code({3, 8, 9}), TW_ESHAPE);
    EXPECT_EQ(code({2, 7, 7}), TW_ESHAPE);
    EXPECT_EQ(code({2, 3, 4}), TW_ESHAPE);
    array_ = {};
    array_.data = memory_;
    EXPECT_TRUE(check_dense(padded, 4 * 72, array_).ok());
    EXPECT_TRUE(check_dense(padded, 2 * 72, array_).ok());
    EXPECT_EQ(check_dense(padded, 3 * 72, array_).code, TW_ESHAPE);
    EXPECT_EQ(check_dense(padded, padded.stored, array_).code, TW_ESHAPE);
    array_.type = TW_FLOAT;
    const int order[] = {0, 1};
    HeldBox held;
    held.block = 1;
    EXPECT_EQ(locate(padded, order, held, array_).base - array_.data, 4 * (72 + 1 * 9 + 2));
}

TEST(Arrays, NothingHeldTakesAnyArray) {
    const auto m = made(given({"y", "x"}, {10, 8}, {}));
    ArrayView view;
    const std::int64_t extent[] = {0, 8}, stride[] = {32, 4};
    EXPECT_TRUE(check_strided(*m, 2, extent, stride, view).ok());
    for (const std::int64_t n : {0, 14}) {
        EXPECT_TRUE(check_dense(*m, n, view).ok());
        EXPECT_EQ(view.form, Form::either);
    }
    EXPECT_EQ(check_dense(*m, -1, view).code, TW_ESHAPE);
}

/// Divides a variable into parts. The boxes that are read of all parts must be those that are read
/// of the whole variable.
TEST(Wanted, IsDividedAmongParts) {
    Random random(3);
    for (int tries = 0; tries < 200; ++tries) {
        const std::int64_t shape[] = {random.between(1, 9), random.between(1, 9)};
        const std::int64_t cut[] = {random.between(0, shape[0]), random.between(0, shape[1])};
        std::vector<WantedBox> boxes(static_cast<std::size_t>(random.between(1, 3)));
        for (WantedBox& w : boxes) {
            w.box.nd = 2;
            for (int d = 0; d < 2; ++d) {
                w.box.low[d] = random.below(shape[d]);
                w.box.count[d] = random.between(1, shape[d] - w.box.low[d]);
                w.at[d] = random.below(5);
            }
            w.block = static_cast<int>(&w - boxes.data());
        }
        // An element and its address in the array, for each box.
        using Seen = std::multiset<std::array<std::int64_t, 5>>;
        const auto add = [](Seen& seen, const WantedBox& w, const Index& low) {
            for (std::int64_t y = 0; y < w.box.count[0]; ++y)
                for (std::int64_t x = 0; x < w.box.count[1]; ++x)
                    seen.insert({w.block, low[0] + w.box.low[0] + y, low[1] + w.box.low[1] + x,
                                 w.at[0] + y, w.at[1] + x});
        };
        Seen expected, found;
        for (const WantedBox& w : boxes) add(expected, w, {});
        for (int part = 0; part < 4; ++part) {
            Box box = whole_box(shape);
            for (int d = 0; d < 2; ++d) {
                const bool upper = ((part >> d) & 1) != 0;
                box.low[d] = upper ? cut[d] : 0;
                box.count[d] = upper ? shape[d] - cut[d] : cut[d];
            }
            const auto within = wanted_within(boxes, box);
            std::int64_t before = 0;
            for (const WantedBox& w : within) {
                add(found, w, box.low);
                EXPECT_GE(w.first, before);
                before = w.first;
                EXPECT_EQ(w.first, linear({box.count.data(), 2}, w.box.low));
                EXPECT_LE(w.first, w.last);
                EXPECT_LT(w.last, box.volume());
            }
        }
        ASSERT_EQ(found, expected);
    }
}

}  // namespace
