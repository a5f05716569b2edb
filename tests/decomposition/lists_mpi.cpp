// Tests decompositions by lists over several ranks: elements that are held twice are found and
// named.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "decomposition/directory.hpp"
#include "support/decompose.hpp"
#include "support/on_ranks.hpp"
#include "system/random.hpp"

using namespace thalweg::detail;

namespace {

class Lists : public OnRanks {
protected:
    Status make(std::vector<std::string> dims, Numbers shape, std::vector<std::string> listed,
                const Numbers& indices, bool shared = false) {
        made_.reset();
        return make_listed_decomposition(*comm_, given(std::move(dims), std::move(shape)), listed,
                                         indices, shared, made_);
    }
};

TEST_F(Lists, DealtOutInTurnAreWhole) {
    Numbers mine;
    for (std::int64_t i = rank_; i < 100; i += size_) mine.push_back(99 - i);
    ASSERT_TRUE(make({"lev", "col"}, {7, 100}, {"col"}, mine).ok());
    EXPECT_TRUE(made_->whole);
    EXPECT_EQ(made_->held, 7 * static_cast<std::int64_t>(mine.size()));
    mine.push_back(-1);
    if (rank_ == 0) mine.front() = -1;
    ASSERT_TRUE(make({"lev", "col"}, {7, 100}, {"col"}, mine).ok());
    EXPECT_FALSE(made_->whole);
    EXPECT_EQ(made_->stored, 7 * static_cast<std::int64_t>(mine.size()));
}

TEST_F(Lists, AnIndexOnTwoRanksIsNamedWithBoth) {
    if (size_ < 2) GTEST_SKIP();
    Numbers mine{2 * rank_, 2 * rank_ + 1};
    // Rank 0 has the same index at position 1.
    if (rank_ == size_ - 1) mine.insert(mine.begin(), 1);
    const Status status = make({"y", "x", "z"}, {size_, 2, 3}, {"y", "x"}, mine);
    EXPECT_EQ(status.code, TW_EOVERLAP);
    EXPECT_EQ(made_, nullptr);
    expect_alike(status);
    for (const std::string& part :
         {std::string("index 1 (0, 1)"), std::string("rank 0, at position 1"),
          "rank " + std::to_string(size_ - 1) + ", at position 0"})
        EXPECT_NE(status.text.find(part), std::string::npos) << status.text;
    EXPECT_TRUE(make({"y", "x", "z"}, {size_, 2, 3}, {"y", "x"}, mine, true).ok());
}

TEST_F(Lists, MistakesOfOneRankAreToldToAll) {
    Numbers mine{rank_};
    if (rank_ == size_ - 1) mine = {-1, size_};
    Status status = make({"x"}, {size_}, {"x"}, mine);
    EXPECT_EQ(status.code, TW_EBOUNDS);
    expect_alike(status);
    if (rank_ == size_ - 1) mine = {rank_, -1, rank_};
    status = make({"x"}, {size_}, {"x"}, mine);
    EXPECT_EQ(status.code, TW_EOVERLAP);
    expect_alike(status);
    EXPECT_NE(status.text.find("positions 0 and 2"), std::string::npos) << status.text;
}

TEST_F(Lists, ListedDimensionsAreNeighbours) {
    EXPECT_EQ(make({"a", "b", "c"}, {1, 1, 1}, {"a", "c"}, {}).code, TW_EARG);
    EXPECT_EQ(make({"a", "b", "c"}, {1, 1, 1}, {"b", "a"}, {}).code, TW_EARG);
    EXPECT_EQ(make({"a", "b", "c"}, {1, 1, 1}, {"d"}, {}).code, TW_EARG);
    EXPECT_EQ(make({"a", "b", "c"}, {1, 1, 1}, {}, {}).code, TW_EARG);
    EXPECT_TRUE(make({"a", "b", "c"}, {1, 1, 1}, {"b", "c"}, {}).ok());
}

TEST_F(Lists, WhatIsSharedMustBeSoOnAllRanks) {
    if (size_ < 2) GTEST_SKIP();
    const Status status = make({"x"}, {5}, {"x"}, {}, rank_ == 0);
    EXPECT_EQ(status.code, TW_EMISMATCH);
    expect_alike(status);
}

/// Every rank generates the lists of all ranks, so that it knows the expected result.
TEST_F(Lists, ADuplicateIfAndOnlyIfThereIsOne) {
    Random random(11);
    Status made;
    const std::unique_ptr<Team> team = Team::make(comm_->duplicate(), 0, made);
    ASSERT_TRUE(made.ok());
    for (int k = 0; k < 100; ++k) {
        const std::int64_t total = random.between(1, 2000);
        std::vector<int> seen(static_cast<std::size_t>(total), 0);
        Numbers mine;
        const std::int64_t draws = random.percent(50) ? 8 : 60;
        for (int r = 0; r < size_; ++r) {
            std::vector<char> own(static_cast<std::size_t>(total), 0);
            for (std::int64_t n = random.below(draws); n > 0; --n) {
                const auto index = static_cast<std::size_t>(random.below(total));
                if (own[index]) continue;
                own[index] = 1;
                ++seen[index];
                if (r == rank_) mine.push_back(static_cast<std::int64_t>(index));
            }
        }
        IndexList list;
        std::int64_t twice = -1;
        ASSERT_TRUE(compress(mine, total, total, false, list, twice).ok());
        Duplicate found;
        ASSERT_TRUE(find_duplicate(*team, list, total, total, found).ok());
        const bool any = std::any_of(seen.begin(), seen.end(), [](int n) { return n > 1; });
        EXPECT_EQ(found.global >= 0, any);
        if (!any) continue;
        EXPECT_GT(seen[static_cast<std::size_t>(found.global)], 1);
        EXPECT_NE(found.ranks[0], found.ranks[1]);
        for (int i = 0; i < 2; ++i)
            if (found.ranks[i] == rank_) {
                EXPECT_EQ(mine[static_cast<std::size_t>(found.positions[i])], found.global);
            }
    }
}

/// There are more runs than one round compares, so each round covers a part of each rank's range.
TEST_F(Lists, ADuplicateIsFoundAmongManyRuns) {
    constexpr std::int64_t runs = 300000;
    const std::int64_t total = 2 * runs + 2 * size_;
    Numbers mine;
    if (rank_ == 0)
        for (std::int64_t i = 0; i < runs; ++i) mine.push_back(2 * i);
    else
        mine.push_back(2 * runs + 2 * rank_);
    if (size_ == 1) GTEST_SKIP();
    for (const std::int64_t index : {std::int64_t(0), 2 * runs - 2}) {
        Numbers one = mine;
        if (rank_ == size_ - 1) one.back() = index;
        const Status status = make({"x"}, {total}, {"x"}, one);
        EXPECT_EQ(status.code, TW_EOVERLAP);
        EXPECT_NE(status.text.find("index " + std::to_string(index)), std::string::npos)
            << status.text;
    }
}

}  // namespace
