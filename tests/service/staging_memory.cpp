// SPDX-License-Identifier: Apache-2.0
#include "service/inline/staged_parts.hpp"

#include <gtest/gtest.h>

using namespace thalweg::detail;

namespace {

constexpr std::int64_t mb = 1 << 20;

}  // namespace

TEST(StagingMemory, TheNextFileHasTheMemory) {
    std::unique_ptr<Memory> spare;
    const char* first = nullptr;
    {
        StagingMemory file(spare);
        first = file.take(8 * mb);
    }
    StagingMemory smaller(spare);
    EXPECT_EQ(smaller.take(2 * mb), first);
    EXPECT_EQ(spare, nullptr);
}

TEST(StagingMemory, TheLargestIsKept) {
    std::unique_ptr<Memory> spare;
    {
        StagingMemory small(spare), large(spare);
        (void)small.take(1000);
        (void)large.take(8 * mb);
    }
    ASSERT_NE(spare, nullptr);
    EXPECT_GE(spare->size(), std::size_t(8 * mb));
    StagingMemory file(spare);
    (void)file.take(16 * mb);  // too large for the spare memory
    EXPECT_NE(spare, nullptr);
}

TEST(StagingMemory, BlocksStayUntilTheyAreGivenBack) {
    std::unique_ptr<Memory> spare;
    StagingMemory file(spare);
    char* const first = file.take(3 * mb);
    char* const second = file.take(3 * mb);
    EXPECT_NE(first, second);
    first[0] = second[0] = 1;
    const std::int64_t bytes = file.bytes();
    file.give_back();
    EXPECT_EQ(file.take(3 * mb), first);
    EXPECT_EQ(file.take(3 * mb), second);
    EXPECT_EQ(file.bytes(), bytes);
}

TEST(StagingMemory, WhatIsExpectedComesInOnePiece) {
    std::unique_ptr<Memory> spare;
    StagingMemory file(spare);
    file.expect(20 * mb);
    char* const first = file.take(10 * mb);
    EXPECT_EQ(file.take(10 * mb), first + 10 * mb);
}
