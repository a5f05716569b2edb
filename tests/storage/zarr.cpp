// Tests the texts of Zarr's metadata.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/crc32c.hpp"
#include "storage/chunked/chunk_grid.hpp"
#include "storage/zarr/base64.hpp"
#include "storage/zarr/metadata.hpp"

using namespace thalweg::detail;

namespace {

std::string fill(tw_type type, double value) {
    const auto f = static_cast<float>(value);
    return fill_text(type, type == TW_FLOAT ? reinterpret_cast<const char*>(&f)
                                            : reinterpret_cast<const char*>(&value));
}

}  // namespace

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

TEST(Zarr, Crc32c) {  // test vectors of RFC 3720, appendix B.4
    const std::string zeros(32, '\0'), ones(32, '\xff'), digits = "123456789";
    std::string ascending;
    for (char c = 0; c < 32; ++c) ascending += c;
    EXPECT_EQ(crc32c(zeros), 0x8A9136AAu);
    EXPECT_EQ(crc32c(ones), 0x62A8AB43u);
    EXPECT_EQ(crc32c(ascending), 0x46DD794Eu);
    EXPECT_EQ(crc32c(digits), 0xE3069283u);
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
