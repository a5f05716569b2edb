// Tests when writing in the background pays off.
// SPDX-License-Identifier: Apache-2.0
#include "choose/hiding.hpp"

#include <gtest/gtest.h>

using namespace thalweg::detail;

TEST(Hiding, PaysWhereTheModelComputesMeanwhile) {
    EXPECT_TRUE(pays_in_background({2, 0.1, 0.4, 3}));
    EXPECT_TRUE(pays_in_background({2, 0.1, 0.4, 0.11}));  // saves a fifth of the time of outputs
    EXPECT_FALSE(pays_in_background({2, 0.1, 0.4, 0.09}));
    EXPECT_FALSE(pays_in_background({2, 0.1, 0.4, 0}));
}

TEST(Hiding, PaysWhereWritingTakesLong) {
    EXPECT_TRUE(pays_in_background({2, 0.1, 0.03, 3}));
    EXPECT_FALSE(pays_in_background({2, 0.1, 0.02, 3}));
}

TEST(Hiding, DoesNotPayWhereOutputIsNoMatter) {
    EXPECT_TRUE(pays_in_background({2, 0.1, 0.4, 399}));
    EXPECT_FALSE(pays_in_background({2, 0.1, 0.4, 401}));
    EXPECT_FALSE(pays_in_background({100, 0.01, 0.099, 3}));  // saves less than 1 ms per output
    EXPECT_TRUE(pays_in_background({98, 0.01, 0.099, 3}));
}

TEST(Hiding, WaitsForTheSecondOutput) {
    EXPECT_FALSE(pays_in_background({0, 0, 0, 0}));
    EXPECT_FALSE(pays_in_background({1, 0.1, 0.4, 3}));
}

TEST(Hiding, AddsUp) {
    OutputTimes sum{1, 2, 3, 4};
    sum += {10, 20, 30, 40};
    EXPECT_EQ(sum.outputs, 11);
    EXPECT_DOUBLE_EQ(sum.pack, 22);
    EXPECT_DOUBLE_EQ(sum.write, 33);
    EXPECT_DOUBLE_EQ(sum.computing, 44);
}
