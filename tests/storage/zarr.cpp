// Tests how variables are cut into Zarr chunks, and their metadata.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "zarr/base64.hpp"
#include "zarr/cut.hpp"
#include "zarr/metadata.hpp"

using namespace thalweg::detail;

namespace {

using Lengths = std::vector<std::int64_t>;

std::string fill(tw_type type, double value) {
    const auto f = static_cast<float>(value);
    return fill_text(type, type == TW_FLOAT ? reinterpret_cast<const char*>(&f)
                                            : reinterpret_cast<const char*>(&value));
}

}  // namespace

TEST(Zarr, CutsAlongSlowDimensions) {
    const CutLimits megabyte{1 << 20, 0};
    EXPECT_EQ(cut(Lengths{}, 8, megabyte), Lengths{});
    EXPECT_EQ(cut(Lengths{4, 100, 100}, 4, megabyte), (Lengths{4, 100, 100}));
    EXPECT_EQ(cut(Lengths{32, 256, 256}, 4, megabyte), (Lengths{4, 256, 256}));
    EXPECT_EQ(cut(Lengths{32, 1024, 1024}, 4, megabyte), (Lengths{1, 256, 1024}));
    EXPECT_EQ(cut(Lengths{3, 0, 5}, 4, megabyte), (Lengths{3, 1, 5}));
}

TEST(Zarr, CutsUnevenlyOnlyWhereTheFileGoesOn) {
    constexpr std::int64_t prime = 1000003;
    EXPECT_EQ(cut(Lengths{2, prime}, 4, {1 << 20, 0}), (Lengths{1, prime}));
    const Lengths chunk = cut(Lengths{2, prime}, 4, {1 << 20, 4000});
    EXPECT_LT(chunk[1], prime);
    EXPECT_LE((prime / chunk[1] + 1) * chunk[1] - prime, 1000);
}

TEST(Zarr, AnyCutIsARangeWithinTheFile) {
    std::mt19937 random(7);
    for (int n = 0; n < 20000; ++n) {
        Lengths shape(random() % 4);
        for (std::int64_t& length : shape) length = static_cast<std::int64_t>(random() % 60 + 1);
        const std::int64_t element = std::int64_t(1) << random() % 4;
        const CutLimits limits{static_cast<std::int64_t>(random() % 3000 + 8),
                               static_cast<std::int64_t>(random() % 100)};
        const Lengths chunk = cut(shape, element, limits);
        ASSERT_EQ(chunk.size(), shape.size());
        bool whole = true;  // true: chunks have the full length of all faster dimensions
        std::int64_t row = element;
        for (std::size_t d = shape.size(); d-- > 0;) {
            ASSERT_GE(chunk[d], 1);
            ASSERT_LE(chunk[d], shape[d]);
            ASSERT_TRUE(whole || chunk[d] == 1);
            const std::int64_t chunks = (shape[d] + chunk[d] - 1) / chunk[d];
            ASSERT_LE((chunks * chunk[d] - shape[d]) * row, limits.beyond);
            whole = whole && chunk[d] == shape[d];
            row *= shape[d];
        }
    }
}

TEST(Zarr, LargestDivisor) {
    for (std::int64_t n = 1; n < 200; ++n)
        for (std::int64_t most = 0; most < 210; ++most) {
            std::int64_t expected = 1;
            for (std::int64_t d = 1; d <= std::min(n, most); ++d)
                if (n % d == 0) expected = d;
            ASSERT_EQ(largest_divisor(n, most), expected) << n << " " << most;
        }
}

TEST(Zarr, Base64) {  // test vectors of RFC 4648, section 10
    const auto encoded = [](const std::string& text) { return base64({text.data(), text.size()}); };
    EXPECT_EQ(encoded(""), "");
    EXPECT_EQ(encoded("f"), "Zg==");
    EXPECT_EQ(encoded("fo"), "Zm8=");
    EXPECT_EQ(encoded("foo"), "Zm9v");
    EXPECT_EQ(encoded("foob"), "Zm9vYg==");
    EXPECT_EQ(encoded("foobar"), "Zm9vYmFy");
    EXPECT_EQ(encoded("\xff\xfe"), "//4=");
}

TEST(Zarr, FillValues) {
    EXPECT_EQ(fill(TW_DOUBLE, NAN), "\"NaN\"");
    EXPECT_EQ(fill(TW_FLOAT, -INFINITY), "\"-Infinity\"");
    EXPECT_EQ(fill(TW_FLOAT, 0.1), "0.10000000149011612");
    EXPECT_EQ(fill(TW_DOUBLE, 1e30), "1e+30");
    const std::uint64_t most = UINT64_MAX;
    EXPECT_EQ(fill_text(TW_UINT64, reinterpret_cast<const char*>(&most)), "18446744073709551615");
    EXPECT_EQ(fill_text(TW_CHAR, ""), "\"AA==\"");
}

TEST(Zarr, FiltersThatZarrCannotUndo) {
    const StoredFilter sum{3, 1}, shuffled{2, 8}, deflate{1, 1}, zstd{zstd_filter, 1}, szip{4, 1};
    EXPECT_EQ(why_no_codecs({shuffled, deflate, sum}, 800), "");
    EXPECT_EQ(why_no_codecs({shuffled, zstd}, 800), "");
    EXPECT_EQ(why_no_codecs({sum, {2, 4}, deflate}, 800), "");
    EXPECT_NE(why_no_codecs({sum, shuffled, deflate}, 800), "");
    EXPECT_NE(why_no_codecs({deflate, shuffled}, 800), "");
    EXPECT_NE(why_no_codecs({szip}, 800), "");
}
