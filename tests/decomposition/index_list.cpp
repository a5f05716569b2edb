// Tests the compression of index lists, and their elements in boxes.
// SPDX-License-Identifier: Apache-2.0
#include "decomposition/index_list.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "decomposition/listed.hpp"
#include "support/given.hpp"

using namespace thalweg::detail;

namespace {

IndexList compressed(const Numbers& indices, std::int64_t total, std::int64_t row) {
    IndexList list;
    std::int64_t twice = -1;
    EXPECT_EQ(compress(indices, total, row, false, list, twice).text, "");
    return list;
}

/// Makes a list over the first two dimensions of a variable with the shape (4, 5, 3).
Listing grid_listing(const Numbers& indices) {
    return {std::make_shared<IndexList>(compressed(indices, 20, 5)), {0, 1}, {4, 5}};
}

/// Returns (index, position) of all elements.
std::vector<std::pair<std::int64_t, std::int64_t>> elements_of(const IndexList& list) {
    std::vector<std::pair<std::int64_t, std::int64_t>> result;
    for (const Run& r : list.runs)
        for (std::int64_t i = 0; i < r.length(); ++i)
            result.emplace_back(r.global() + i, r.position() + i);
    return result;
}

TEST(IndexList, ABlockIsOneRun) {
    Numbers indices(1000);
    std::iota(indices.begin(), indices.end(), 500);
    const IndexList list = compressed(indices, 5000, 5000);
    ASSERT_EQ(list.runs.size(), 1u);
    EXPECT_EQ(list.runs[0].global(), 500);
    EXPECT_EQ(list.runs[0].position(), 0);
    EXPECT_EQ(list.runs[0].length(), 1000);
}

TEST(IndexList, RunsEndWithTheirRow) {
    const IndexList list = compressed({3, 4, 5, 6, 9, 10}, 20, 5);
    ASSERT_EQ(list.runs.size(), 4u);
    EXPECT_EQ(list.runs[0].length(), 2);
    EXPECT_EQ(list.runs[1].global(), 5);
    EXPECT_EQ(list.runs[2].global(), 9);
    EXPECT_EQ(list.runs[3].global(), 10);
}

// The length of a run is stored in 24 bits, so longer runs are divided.
TEST(IndexList, LongRunsAreCut) {
    constexpr std::int64_t longest = Run::longest;
    Numbers indices(static_cast<std::size_t>(longest) + 3);
    std::iota(indices.begin(), indices.end(), 10);
    const IndexList list = compressed(indices, longest + 20, longest + 20);
    ASSERT_EQ(list.runs.size(), 2u);
    EXPECT_EQ(list.runs[0].length(), longest);
    EXPECT_EQ(list.runs[1].global(), 10 + longest);
    EXPECT_EQ(list.runs[1].position(), longest);
    EXPECT_EQ(list.runs[1].length(), 3);

    std::vector<thalweg::detail::Run> joined{
        {longest, longest, 2}, {0, 0, longest}, {longest + 2, longest + 2, 3}};
    sort_runs(joined, 4 * longest);
    ASSERT_EQ(joined.size(), 2u);
    EXPECT_EQ(joined[0].length(), longest);
    EXPECT_EQ(joined[1].length(), 5);

    const Numbers shape{4 * longest};
    const auto listing = [&](const thalweg::detail::Run& run) {
        IndexList one{{run}, run.length()};
        return std::make_shared<const Listing>(
            Listing{std::make_shared<IndexList>(one), {0}, shape});
    };
    const std::shared_ptr<const Listing> both[] = {listing({longest, 0, 4}),
                                                   listing({0, 0, longest})};
    const IndexList united = *unite(both)->list;
    EXPECT_EQ(united.elements, longest + 4);
    ASSERT_EQ(united.runs.size(), 2u);
    EXPECT_EQ(united.runs[0].length(), longest);
    EXPECT_EQ(united.runs[1].position(), longest);
    EXPECT_EQ(united.runs[1].length(), 4);
}

TEST(IndexList, HolesAreLeftOut) {
    const IndexList list = compressed({-1, 7, 8, -1, 2, -1}, 10, 10);
    EXPECT_EQ(list.elements, 3);
    EXPECT_EQ(elements_of(list),
              (std::vector<std::pair<std::int64_t, std::int64_t>>{{2, 4}, {7, 1}, {8, 2}}));
}

TEST(IndexList, EveryElementKeepsItsPlace) {
    std::mt19937 random(7);
    for (int k = 0; k < 50; ++k) {
        Numbers indices(static_cast<std::size_t>(1 + random() % 300));
        std::iota(indices.begin(), indices.end(), 0);
        std::shuffle(indices.begin(), indices.end(), random);
        indices.resize(1 + random() % indices.size());
        for (const auto& [index, position] : elements_of(compressed(indices, 300, 1 + k)))
            EXPECT_EQ(indices[static_cast<std::size_t>(position)], index);
    }
}

TEST(IndexList, AnIndexOutsideIsNamed) {
    IndexList list;
    std::int64_t twice = -1;
    Status status = compress(Numbers{1, 2, 10}, 10, 10, false, list, twice);
    EXPECT_EQ(status.code, TW_EBOUNDS);
    EXPECT_NE(status.text.find("position 2"), std::string::npos);
    EXPECT_NE(status.text.find("index 10"), std::string::npos);
    EXPECT_EQ(compress(Numbers{-2}, 10, 10, true, list, twice).code, TW_EBOUNDS);
}

TEST(IndexList, AnIndexThatComesTwiceIsFound) {
    IndexList list;
    std::int64_t twice = -1;
    const Status status = compress(Numbers{4, 5, 6, 0, 6, 1}, 10, 10, false, list, twice);
    EXPECT_EQ(status.code, TW_EOVERLAP);
    EXPECT_EQ(twice, 6);
    EXPECT_NE(status.text.find("positions 2 and 4"), std::string::npos) << status.text;
}

TEST(IndexList, SharedListsHaveEveryPosition) {
    IndexList list;
    std::int64_t twice = -1;
    ASSERT_TRUE(compress(Numbers{4, 5, 6, 0, 5, 6, 5}, 10, 10, true, list, twice).ok());
    EXPECT_EQ(list.elements, 7);
    const Listing listing{std::make_shared<IndexList>(list), {0}, {10}};
    Numbers positions;
    listing.for_runs(box_of({5}, {1}), [&](const Box&, std::int64_t position, const auto&) {
        positions.push_back(position);
    });
    EXPECT_EQ(positions, (Numbers{1, 4, 6}));
}

TEST(Listing, HasOfABoxWhatLiesInIt) {
    const Listing listing = grid_listing({19, 3, 4, 5, 6, 12});
    Numbers found;
    listing.for_runs(box_of({0, 1, 2}, {3, 3, 1}),
                     [&](const Box& part, std::int64_t position, const auto&) {
                         EXPECT_EQ(part.low[2], 2);
                         for (std::int64_t i = 0; i < part.count[1]; ++i) {
                             found.push_back(part.low[0] * 5 + part.low[1] + i);
                             found.push_back(position + i);
                         }
                     });
    EXPECT_EQ(found, (Numbers{3, 1, 6, 4, 12, 5}));
    EXPECT_TRUE(listing.meets(box_of({3, 4, 0}, {1, 1, 1})));
    EXPECT_FALSE(listing.meets(box_of({1, 2, 0}, {1, 3, 1})));
}

TEST(Listing, CutToABoxIsDense) {
    const Listing listing = grid_listing({19, 3, 4, 5, 6, 12});
    const auto cut = listing.within(box_of({0, 1, 0}, {3, 3, 3}));
    EXPECT_EQ(elements_of(*cut->list),
              (std::vector<std::pair<std::int64_t, std::int64_t>>{{3, 0}, {6, 1}, {12, 2}}));
    const Index dense = cut->dense_shape(box_of({0, 1, 0}, {3, 3, 3}));
    EXPECT_EQ(dense[0], 1);
    EXPECT_EQ(dense[1], 3);
    EXPECT_EQ(dense[2], 3);
}

TEST(Listing, APartHasItsOwnIndicesAndTheListsPositions) {
    Numbers indices(20);
    std::iota(indices.begin(), indices.end(), 0);
    std::shuffle(indices.begin(), indices.end(), std::mt19937(3));
    const Listing listing = grid_listing(indices);
    const auto part = listing.part(box_of({1, 2, 1}, {2, 3, 2}));
    EXPECT_EQ(part->dims, listing.dims);
    EXPECT_EQ(part->shape, (Numbers{2, 3}));
    EXPECT_EQ(part->list->elements, 6);
    std::int64_t expected = 0;
    for (const auto& [index, position] : elements_of(*part->list)) {
        EXPECT_EQ(index, expected++);
        EXPECT_EQ(indices[static_cast<std::size_t>(position)], (index / 3 + 1) * 5 + index % 3 + 2);
    }
}

TEST(Listing, IsWantedOfAPartAsOfTheWhole) {
    const Numbers indices{19, 7, 6, 12, 13, 0};
    const auto listing = std::make_shared<const Listing>(grid_listing(indices));
    const Numbers shape{4, 5, 3};
    WantedBox whole;
    static_cast<HeldBox&>(whole) = held_list(listing, shape);

    const auto wanted = wanted_within({&whole, 1}, box_of({1, 1, 1}, {2, 4, 2}));
    ASSERT_EQ(wanted.size(), 1u);
    EXPECT_EQ(wanted[0].at[2], 1);
    EXPECT_EQ(wanted[0].box.count[2], 2);
    // The indices (y, x) in the box that the list holds are (1, 1), (1, 2), (2, 2) and (2, 3). The
    // list numbers them from (1, 1), 4 to a row.
    EXPECT_EQ(elements_of(*wanted[0].list->list),
              (std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 2}, {1, 1}, {5, 3}, {6, 4}}));

    const auto levels = wanted_within({&whole, 1}, box_of({0, 0, 2}, {4, 5, 1}));
    ASSERT_EQ(levels.size(), 1u);
    EXPECT_EQ(levels[0].list, listing);
    EXPECT_EQ(levels[0].at[2], 2);

    EXPECT_TRUE(wanted_within({&whole, 1}, box_of({3, 0, 0}, {1, 4, 3})).empty());
}

TEST(Listing, UnitesEachElementOnce) {
    const auto a = std::make_shared<const Listing>(grid_listing({3, 4, 5, 12}));
    const auto b = std::make_shared<const Listing>(grid_listing({4, 19, 11, 12, 13}));
    const std::shared_ptr<const Listing> both[] = {a, b};
    Numbers indices;
    for (const auto& [index, position] : elements_of(*unite(both)->list)) indices.push_back(index);
    EXPECT_EQ(indices, (Numbers{3, 4, 5, 11, 12, 13, 19}));
}

TEST(Listing, FollowsTheOrderOfTheFile) {
    Listed listed;
    listed.first = 0;
    listed.count = 2;
    listed.list = std::make_shared<IndexList>(compressed({3, 4, 9, 14}, 20, 5));
    const int order[] = {1, 2, 0};  // (y, x, z) is (x, z, y) in the file
    const std::int64_t shape[] = {5, 3, 4};
    const auto listing = listed.in_order(order, shape);
    EXPECT_EQ(listing->dims, (std::vector<int>{0, 2}));
    // The elements (y, x) = (0, 3), (0, 4), (1, 4) and (2, 4) get the indices x * 4 + y.
    EXPECT_EQ(elements_of(*listing->list), (std::vector<std::pair<std::int64_t, std::int64_t>>{
                                               {12, 0}, {16, 1}, {17, 2}, {18, 3}}));
    EXPECT_EQ(listed.in_order(order, shape), listing);
}

TEST(Runs, TravelInFewBytes) {
    Numbers indices;
    for (std::int64_t i = 0; i < 1000; ++i) indices.push_back(i * 3);
    const IndexList list = compressed(indices, 5000, 5000);
    std::vector<std::int64_t> words;
    append_runs(words, list.runs);
    EXPECT_LE(words.size(), 130u);
    IndexList back;
    EXPECT_EQ(parse_runs(words.data(), back), words.data() + words.size());
    EXPECT_EQ(elements_of(back), elements_of(list));
}

TEST(Runs, TravelWhateverTheirIndices) {
    IndexList list;
    std::int64_t global = 0;
    for (int bit = 0; bit < 62; ++bit)
        for (const std::int64_t length : {std::int64_t(1), std::int64_t(2), Run::longest}) {
            if (bit > 40 && length > 2) continue;
            global = std::max(global, (std::int64_t(1) << bit) - 1);
            list.runs.emplace_back(global, list.elements, length);
            list.elements += length;
            global += length;
        }
    std::vector<std::int64_t> words;
    append_runs(words, list.runs);
    IndexList back;
    EXPECT_EQ(parse_runs(words.data(), back), words.data() + words.size());
    EXPECT_EQ(back.elements, list.elements);
    ASSERT_EQ(back.runs.size(), list.runs.size());
    for (std::size_t i = 0; i < list.runs.size(); ++i) {
        EXPECT_EQ(back.runs[i].global(), list.runs[i].global());
        EXPECT_EQ(back.runs[i].position(), list.runs[i].position());
        EXPECT_EQ(back.runs[i].length(), list.runs[i].length());
    }
}

}  // namespace
