// SPDX-License-Identifier: Apache-2.0
#include "decomposition/cover.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "support/given.hpp"
#include "system/random.hpp"

using namespace thalweg::detail;

namespace {

/// Sums of the numbers `low` and `high` over the covers of all ranks.
struct Sums {
    std::int64_t low = 0, high = 0;
    void add(const Cover& cover) {
        low += cover.low();
        high += cover.high();
    }
    bool is_all(const Numbers& end) const { return Cover::is_all(low, high, end); }
};

/// Cuts a box in two repeatedly, and gives each piece to some rank.
void deal_out(Random& random, const Box& box, int cuts, std::vector<Cover>& ranks) {
    const auto d = static_cast<std::size_t>(random.below(box.nd));
    if (cuts == 0 || box.count[d] < 2) {
        ranks[static_cast<std::size_t>(random.below(std::ssize(ranks)))].add(box);
        return;
    }
    const std::int64_t n = random.between(1, box.count[d] - 1);
    Box first = box, second = box;
    first.count[d] = n;
    second.low[d] += n;
    second.count[d] -= n;
    deal_out(random, first, cuts - 1, ranks);
    deal_out(random, second, cuts - 1, ranks);
}

TEST(Cover, OfBoxesThatFillTheSpaceIsAll) {
    Random random(1);
    for (int i = 0; i < 300; ++i) {
        const std::int64_t nd = random.between(1, 5);
        Numbers end;
        for (std::int64_t d = 0; d < nd; ++d) end.push_back(random.between(1, 4000));
        std::vector<Cover> ranks(static_cast<std::size_t>(random.between(1, 9)));
        deal_out(random, box_of(Numbers(end.size(), 0), end), 4, ranks);
        Sums sums;
        for (const Cover& cover : ranks) sums.add(cover);
        EXPECT_TRUE(sums.is_all(end));
        --end[0];
        EXPECT_FALSE(sums.is_all(end));
    }
}

TEST(Cover, OfAsManyElementsSomeOfThemTwiceIsNotAll) {
    for (std::int64_t low = 0; low < 7; ++low) {
        Sums sums;
        for (const Box& box :
             {box_of({0, 0}, {8, 5}), box_of({low, 5}, {1, 3}), box_of({0, 5}, {7, 3})}) {
            Cover cover;
            cover.add(box);
            sums.add(cover);
        }
        EXPECT_FALSE(sums.is_all({8, 8})) << low;
    }
}

TEST(Cover, OfListsIsAllIfEachIndexIsListedOnce) {
    Random random(2);
    for (int i = 0; i < 100; ++i) {
        const std::int64_t total = random.between(1, 500), ranks = random.between(1, 7);
        std::vector<Numbers> held(static_cast<std::size_t>(ranks));
        for (std::int64_t k = 0; k < total; ++k)
            held[static_cast<std::size_t>(random.below(ranks))].push_back(k);
        const auto sums_of = [&] {
            Sums sums;
            for (const Numbers& indices : held) {
                IndexList list;
                std::int64_t twice = -1;
                EXPECT_TRUE(compress(indices, total, total, false, list, twice).ok());
                Cover cover;
                cover.add(list);
                sums.add(cover);
            }
            return sums;
        };
        EXPECT_TRUE(sums_of().is_all({total}));
        if (held[0].empty() || held[0].size() == static_cast<std::size_t>(total)) continue;
        // Replace an index by one that another rank's list also has, so that the number of indices
        // stays the same.
        std::int64_t k = 0;
        while (std::find(held[0].begin(), held[0].end(), k) != held[0].end()) ++k;
        held[0].back() = k;
        EXPECT_FALSE(sums_of().is_all({total}));
    }
}

}  // namespace
