// SPDX-License-Identifier: Apache-2.0
#include "index/types.hpp"

#include <gtest/gtest.h>
#include <netcdf.h>

using namespace thalweg::detail;

namespace {

template <class T>
T fill_of(tw_type type) {
    T value;
    default_fill(type, &value);
    return value;
}

TEST(Types, SizesAndNames) {
    const char* names[] = {"byte",  "char",   "short", "int",   "float", "double",
                           "ubyte", "ushort", "uint",  "int64", "uint64"};
    const std::size_t sizes[] = {1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
    for (int t = 1; t <= 11; ++t) {
        EXPECT_TRUE(valid_type(t));
        EXPECT_EQ(size_of(static_cast<tw_type>(t)), sizes[t - 1]);
        EXPECT_STREQ(name_of(static_cast<tw_type>(t)), names[t - 1]);
    }
    for (int t : {-1, 0, 12, 1000}) EXPECT_FALSE(valid_type(t));
}

TEST(Types, DefaultFillValues) {
    EXPECT_EQ(fill_of<signed char>(TW_BYTE), NC_FILL_BYTE);
    EXPECT_EQ(fill_of<char>(TW_CHAR), NC_FILL_CHAR);
    EXPECT_EQ(fill_of<short>(TW_SHORT), NC_FILL_SHORT);
    EXPECT_EQ(fill_of<int>(TW_INT), NC_FILL_INT);
    EXPECT_EQ(fill_of<float>(TW_FLOAT), NC_FILL_FLOAT);
    EXPECT_EQ(fill_of<double>(TW_DOUBLE), NC_FILL_DOUBLE);
    EXPECT_EQ(fill_of<unsigned char>(TW_UBYTE), NC_FILL_UBYTE);
    EXPECT_EQ(fill_of<unsigned short>(TW_USHORT), NC_FILL_USHORT);
    EXPECT_EQ(fill_of<unsigned>(TW_UINT), NC_FILL_UINT);
    EXPECT_EQ(fill_of<long long>(TW_INT64), NC_FILL_INT64);
    EXPECT_EQ(fill_of<unsigned long long>(TW_UINT64), NC_FILL_UINT64);
}

}  // namespace
