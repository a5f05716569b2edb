// Tests the compression of index lists, and their elements in boxes.
// SPDX-License-Identifier: Apache-2.0
#include "decomposition/index_list.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "decomposition/listed.hpp"
#include "support/given.hpp"
#include "system/random.hpp"

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

using Elements = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// Returns (index, position) of all elements.
Elements elements_of(const IndexList& list) {
    Elements result;
    for (const Run& r : list.runs)
        for (std::int64_t i = 0; i < r.length(); ++i)
            result.emplace_back(r.global() + i, r.position() + i);
    return result;
}

/// Returns (index, position) of the elements of a list that lie in a box, in ascending order.
Elements expected_in(const Numbers& indices, std::int64_t row, const Box& box) {
    Elements result;
    for (std::int64_t at = 0; at < std::ssize(indices); ++at) {
        const std::int64_t index = indices[static_cast<std::size_t>(at)];
        const std::int64_t y = index / row - box.low[0], x = index % row - box.low[1];
        if (index >= 0 && y >= 0 && y < box.count[0] && x >= 0 && x < box.count[1])
            result.emplace_back(index, at);
    }
    std::sort(result.begin(), result.end());
    return result;
}

/// Random lists with holes over two dimensions, and random boxes of a variable that has a third.
TEST(Listing, HasTheElementsOfTheList) {
    Random random(7);
    for (int k = 0; k < 1000; ++k) {
        SCOPED_TRACE(k);
        const std::int64_t ny = random.between(1, 6), row = random.between(1, 12);
        const bool shared = random.percent(30);
        Numbers indices;
        for (std::int64_t n = random.below(8); n > 0; --n) {
            const std::int64_t first = random.between(-1, ny * row - 1);
            const std::int64_t length = first < 0 ? 1 : random.between(1, 9);
            for (std::int64_t i = 0; i < length; ++i)
                if (first + i < ny * row &&
                    (shared || first < 0 || std::ranges::count(indices, first + i) == 0))
                    indices.push_back(first + i);
        }
        auto list = std::make_shared<IndexList>();
        std::int64_t twice = -1;
        ASSERT_EQ(compress(indices, ny * row, row, shared, *list, twice).text, "");
        const Box all = box_of({0, 0, 0}, {ny, row, 3});
        const Elements elements = expected_in(indices, row, all);
        EXPECT_EQ(elements_of(*list), elements);
        EXPECT_EQ(list->elements, std::ssize(elements));
        for (std::size_t i = 0; i < list->runs.size(); ++i) {
            const auto& run = list->runs[i];
            EXPECT_EQ(run.global() / row, (run.end() - 1) / row);
            if (i == 0 || shared || run.global() % row == 0) continue;
            const auto& last = list->runs[i - 1];
            EXPECT_FALSE(last.end() == run.global() &&
                         last.position() + last.length() == run.position());
        }

        Box box = all;
        for (int d = 0; d < 3; ++d) {
            box.low[d] = random.below(all.count[d]);
            box.count[d] = random.between(1, all.count[d] - box.low[d]);
        }
        const Listing listing{list, {0, 1}, {ny, row}};
        const Elements inside = expected_in(indices, row, box);
        Elements found, own, dense;
        listing.for_runs(box, [&](const Box& part, std::int64_t position, const auto&) {
            EXPECT_EQ(part.low[2], box.low[2]);
            for (std::int64_t i = 0; i < part.count[1]; ++i)
                found.emplace_back(part.low[0] * row + part.low[1] + i, position + i);
        });
        EXPECT_EQ(found, inside);
        EXPECT_EQ(listing.meets(box), !inside.empty());
        for (const auto& [index, position] : inside) {
            own.emplace_back((index / row - box.low[0]) * box.count[1] + index % row - box.low[1],
                             position);
            dense.emplace_back(index, std::ssize(dense));
        }
        EXPECT_EQ(elements_of(*listing.part(box)->list), own);
        const auto cut = listing.within(box);
        EXPECT_EQ(elements_of(*cut->list), dense);
        const Index lengths = cut->dense_shape(box);
        EXPECT_EQ(lengths[0] * lengths[1], std::ssize(inside));
        EXPECT_EQ(lengths[2], box.count[2]);

        const std::shared_ptr<const Listing> both[] = {std::make_shared<Listing>(listing), cut};
        Elements each;
        for (const auto& [index, position] : elements)
            if (each.empty() || each.back().first != index)
                each.emplace_back(index, std::ssize(each));
        const auto united = unite(both)->list;
        EXPECT_EQ(elements_of(*united), each);
        std::vector<std::int64_t> words;
        append_runs(words, united->runs);
        IndexList back;
        EXPECT_EQ(parse_runs(words.data(), back), words.data() + words.size());
        EXPECT_EQ(elements_of(back), each);
    }
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
    EXPECT_EQ(elements_of(*wanted[0].list->list), (Elements{{0, 2}, {1, 1}, {5, 3}, {6, 4}}));

    const auto levels = wanted_within({&whole, 1}, box_of({0, 0, 2}, {4, 5, 1}));
    ASSERT_EQ(levels.size(), 1u);
    EXPECT_EQ(levels[0].list, listing);
    EXPECT_EQ(levels[0].at[2], 2);

    EXPECT_TRUE(wanted_within({&whole, 1}, box_of({3, 0, 0}, {1, 4, 3})).empty());
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
    EXPECT_EQ(elements_of(*listing->list), (Elements{{12, 0}, {16, 1}, {17, 2}, {18, 3}}));
    EXPECT_EQ(listed.in_order(order, shape), listing);
}

TEST(Runs, TravelInFewBytes) {
    Numbers indices;
    for (std::int64_t i = 0; i < 1000; ++i) indices.push_back(i * 3);
    std::vector<std::int64_t> words;
    append_runs(words, compressed(indices, 5000, 5000).runs);
    EXPECT_LE(words.size(), 130u);
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
