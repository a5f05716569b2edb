// Tests decompositions over several ranks.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "decomposition/starts.hpp"
#include "support/decompose.hpp"
#include "support/on_ranks.hpp"
#include "system/random.hpp"

using namespace thalweg::detail;

namespace {

class Ranks : public OnRanks {
protected:
    Status make(std::vector<std::string> dims, Numbers shape, std::vector<Box> blocks) {
        made_.reset();
        return make_decomposition(
            *comm_, given(std::move(dims), std::move(shape), std::move(blocks)), made_);
    }
};

TEST_F(Ranks, OverlapNamesBothRanks) {
    if (size_ < 2) GTEST_SKIP();
    // The last two ranks both hold one element of row 2.
    std::int64_t low = 4 * rank_, count = 4;
    if (rank_ == size_ - 2) ++count;
    const Status status = make({"y", "x"}, {3, 4 * size_}, {box_of({0, low}, {3, count})});
    EXPECT_EQ(status.code, TW_EOVERLAP);
    EXPECT_EQ(made_, nullptr);
    expect_alike(status);
    const std::string& text = status.text;
    EXPECT_NE(text.find("rank " + std::to_string(size_ - 2)), std::string::npos) << text;
    EXPECT_NE(text.find("rank " + std::to_string(size_ - 1)), std::string::npos) << text;
    EXPECT_NE(text.find(", " + std::to_string(4 * (size_ - 1)) + ")"), std::string::npos) << text;
}

TEST_F(Ranks, BadBlockOfOneRank) {
    const std::int64_t count = rank_ == size_ - 1 ? 4 : 3;
    const Status status = make({"x"}, {3 * size_}, {box_of({3 * rank_}, {count})});
    EXPECT_EQ(status.code, TW_EBOUNDS);
    expect_alike(status);
    if (size_ > 1) {
        EXPECT_NE(status.text.find("rank " + std::to_string(size_ - 1)), std::string::npos)
            << status.text;
    }
}

TEST_F(Ranks, ShapesAndNamesMustAgree) {
    if (size_ < 2) GTEST_SKIP();
    const std::int64_t length = rank_ == size_ - 1 ? 7 : 8;
    Status status = make({"x"}, {length}, {});
    EXPECT_EQ(status.code, TW_EMISMATCH);
    expect_alike(status);
    EXPECT_NE(status.text.find("rank " + std::to_string(size_ - 1)), std::string::npos)
        << status.text;
    status = make({rank_ == 0 ? "x" : "y"}, {8}, {});
    EXPECT_EQ(status.code, TW_EMISMATCH);
    expect_alike(status);
}

/// Every rank generates the boxes of all ranks, so that it knows the expected result.
TEST_F(Ranks, OverlapIfAndOnlyIfAnElementIsHeldTwice) {
    Random random(5);
    for (int i = 0; i < (size_ == 1 ? 500 : 150); ++i) {
        const auto nd = static_cast<std::size_t>(random.between(1, 3));
        std::vector<std::int64_t> shape;
        std::vector<std::string> dims;
        for (std::size_t d = 0; d < nd; ++d) {
            shape.push_back(random.between(1, 12));
            dims.push_back("d" + std::to_string(d));
        }
        std::vector<int> seen(static_cast<std::size_t>(volume(shape)), 0);
        std::vector<Box> mine;
        std::int64_t held = 0;
        const std::int64_t largest = random.between(1, 5);
        for (int r = 0; r < size_; ++r) {
            for (std::int64_t b = random.below(size_ == 1 ? 4 : 3); b-- > 0;) {
                Box box;
                box.nd = static_cast<int>(nd);
                for (std::size_t d = 0; d < nd; ++d) {
                    box.low[d] = random.below(shape[d]);
                    box.count[d] = random.between(random.percent(5) ? 0 : 1,
                                                  std::min(largest, shape[d] - box.low[d]));
                }
                if (r == rank_) mine.push_back(box);
                if (r == rank_) held += box.volume();
                Index at = box.low;
                for (std::int64_t e = 0; e < box.volume(); ++e) {
                    ++seen[static_cast<std::size_t>(linear(shape, at))];
                    for (int d = box.nd - 1; d >= 0 && ++at[d] == box.low[d] + box.count[d]; --d)
                        at[d] = box.low[d];
                }
            }
        }
        const bool twice = std::any_of(seen.begin(), seen.end(), [](int n) { return n > 1; });
        const bool whole = std::all_of(seen.begin(), seen.end(), [](int n) { return n == 1; });
        const Status status = make(dims, shape, mine);
        ASSERT_EQ(status.code, twice ? TW_EOVERLAP : TW_OK) << status.text;
        if (!twice) {
            ASSERT_EQ(made_->whole, whole);
            ASSERT_EQ(made_->held, held);
        }
    }
}

TEST(Starts, AreThoseOfAllRanks) {
    const auto comm = make_mpi_comm(MPI_COMM_WORLD);
    const std::vector<std::int64_t> lengths(3, 40);
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        Starts mine(3);
        std::vector<std::set<std::int64_t>> all(3);
        for (int r = 0; r < comm->size(); ++r) {
            Random random(mix(seed, static_cast<std::uint64_t>(r)));
            for (std::size_t k = 0; k < 3; ++k)
                for (std::int64_t n = random.below(k == 0 ? 2 : 30); n > 0; --n) {
                    const std::int64_t start = random.below(40);
                    all[k].insert(start);
                    if (r == comm->rank()) mine[k].push_back(start);
                }
        }
        const Starts united = unite_starts(*comm, mine, lengths);
        for (std::size_t k = 0; k < 3; ++k)
            EXPECT_EQ(united[k], (std::vector<std::int64_t>(all[k].begin(), all[k].end())));
        // A list that is too long loses entries. The rest is an ascending subset that contains the
        // first entry.
        const Starts few = unite_starts(*comm, mine, lengths, 8);
        for (std::size_t k = 0; k < 3; ++k) {
            EXPECT_LE(few[k].size(), 8U);
            EXPECT_EQ(few[k].empty(), all[k].empty());
            EXPECT_TRUE(std::is_sorted(few[k].begin(), few[k].end()));
            for (const std::int64_t start : few[k]) EXPECT_TRUE(all[k].contains(start));
            if (!few[k].empty()) {
                EXPECT_EQ(few[k].front(), *all[k].begin());
            }
        }
    }
}

}  // namespace
