// Compares copies of the elements of lists, in all directions, with copies of single elements.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "exchange/held_words.hpp"
#include "exchange/pack/copy_runs.hpp"
#include "exchange/pack/dense.hpp"
#include "system/random.hpp"

using namespace thalweg::detail;

namespace {

using Numbers = std::vector<std::int64_t>;

/// A list over adjacent dimensions of a grid, and an order of the dimensions in the file.
struct Sample {
    Numbers file_shape, listed_shape;
    std::vector<int> order;
    Numbers indices;
    HeldBox held;
    std::set<std::int64_t> elements;  ///< positions of the elements in the file

    explicit Sample(Random& random) {
        const auto nd = static_cast<int>(random.between(1, 4));
        Numbers shape;
        for (int d = 0; d < nd; ++d) {
            shape.push_back(random.between(1, 7));
            order.push_back(d);
        }
        random.shuffle(order);
        for (const int m : order) file_shape.push_back(shape[static_cast<std::size_t>(m)]);
        Listed listed;
        listed.first = static_cast<int>(random.below(nd));
        listed.count = static_cast<int>(random.between(1, nd - listed.first));
        listed_shape.assign(shape.begin() + listed.first,
                            shape.begin() + listed.first + listed.count);
        for (std::int64_t i = 0; i < volume(listed_shape); ++i)
            if (random.percent(60)) indices.push_back(i);
        if (indices.empty()) indices.push_back(0);
        if (random.percent(50)) random.shuffle(indices);
        auto list = std::make_shared<IndexList>();
        std::int64_t twice = -1;
        EXPECT_TRUE(
            compress(indices, volume(listed_shape), listed_shape.back(), false, *list, twice).ok());
        listed.list = list;
        held = held_list(listed.in_order(order, file_shape), file_shape);
        const std::set<std::int64_t> in_list(indices.begin(), indices.end());
        for (std::int64_t i = 0; i < volume(file_shape); ++i) {
            const Index at = place(i);
            std::int64_t index = 0;
            for (int m = listed.first; m < listed.first + listed.count; ++m)
                for (std::size_t f = 0; f < order.size(); ++f)
                    if (order[f] == m) index = index * shape[static_cast<std::size_t>(m)] + at[f];
            if (in_list.count(index) != 0) elements.insert(i);
        }
    }

    Index place(std::int64_t i) const {
        Index at{};
        for (std::size_t f = file_shape.size(); f-- > 0; i /= file_shape[f])
            at[f] = i % file_shape[f];
        return at;
    }
};

TEST(Lists, CopiesGoWhereEachElementBelongs) {
    Random random(5);
    for (int k = 0; k < 300; ++k) {
        const Sample s(random);
        const auto nd = static_cast<std::size_t>(s.held.box.nd);
        const std::size_t size = std::size_t(1) << random.below(4);
        const auto element = static_cast<std::int64_t>(size);
        const RowKernel kernel = move_kernel(size);
        const auto all = static_cast<std::size_t>(volume(s.file_shape));
        // Test two kinds of array: one that holds the whole grid, and a dense one with only the
        // list's elements, with dimensions nested in any order.
        std::vector<char> grid(all * size), back(all * size, 9);
        for (char& c : grid) c = static_cast<char>(random.below(100));
        Index grid_stride = strides_of(s.file_shape);
        for (std::int64_t& x : grid_stride) x *= element;
        const Index lengths = s.held.list->dense_shape(s.held.box);
        Index stride{};
        std::int64_t n = element;
        std::vector<std::size_t> nested(nd);
        std::iota(nested.begin(), nested.end(), 0);
        random.shuffle(nested);
        for (const std::size_t d : nested) {
            stride[d] = n;
            n *= lengths[d];
        }
        std::vector<char> memory(static_cast<std::size_t>(n), 0), dense(memory.size(), 0);
        const std::int64_t low = linear(s.file_shape, s.held.box.low) * element;
        copy_runs(*s.held.list, s.held.box, {RunOrder::positions, memory.data(), stride},
                  {RunOrder::indices, grid.data() + low, grid_stride}, kernel, nullptr);
        copy_runs(*s.held.list, s.held.box, {RunOrder::indices, back.data() + low, grid_stride},
                  {RunOrder::positions, memory.data(), stride}, kernel, nullptr);
        for (std::size_t i = 0; i < all; ++i)
            for (std::size_t b = 0; b < size; ++b)
                EXPECT_EQ(back[i * size + b], s.elements.count(static_cast<std::int64_t>(i)) != 0
                                                  ? grid[i * size + b]
                                                  : 9);
        // Copy the elements to a dense buffer, and back.
        copy_runs(*s.held.list, s.held.box,
                  {RunOrder::dense, dense.data(), dense_strides(s.held, element)},
                  {RunOrder::positions, memory.data(), stride}, kernel, nullptr);
        std::vector<char> third(back.size(), 9);
        copy_runs(*s.held.list, s.held.box, {RunOrder::indices, third.data() + low, grid_stride},
                  {RunOrder::dense, dense.data(), dense_strides(s.held, element)}, kernel, nullptr);
        EXPECT_EQ(third, back);
    }
}

TEST(Lists, CopiesCountWhatDoesNotFit) {
    Random random(6);
    for (int k = 0; k < 100; ++k) {
        const Sample s(random);
        const auto nd = static_cast<std::size_t>(s.held.box.nd);
        const Index lengths = s.held.list->dense_shape(s.held.box);
        Index from_stride{}, to_stride = strides_of(s.file_shape);
        for (std::int64_t& x : to_stride) x *= 2;
        std::vector<std::size_t> nested(nd);
        std::iota(nested.begin(), nested.end(), 0);
        random.shuffle(nested);
        std::int64_t n = 1;
        for (const std::size_t d : nested) {
            from_stride[d] = 4 * n;
            n *= lengths[d];
        }
        std::vector<std::int32_t> memory(static_cast<std::size_t>(n));
        std::int64_t misfits = 0;
        for (std::int32_t& value : memory) {
            value = random.percent(20) ? 70000 : 7;
            misfits += value == 70000;
        }
        std::vector<std::int16_t> grid(static_cast<std::size_t>(volume(s.file_shape)), 9);
        const std::int16_t fill = -1;
        const std::int64_t low = linear(s.file_shape, s.held.box.low);
        const std::int64_t told = copy_runs(
            *s.held.list, s.held.box,
            {RunOrder::indices, reinterpret_cast<char*>(grid.data() + low), to_stride},
            {RunOrder::positions, reinterpret_cast<const char*>(memory.data()), from_stride},
            pack_kernel(TW_INT, TW_SHORT, Order::native), reinterpret_cast<const char*>(&fill));
        EXPECT_EQ(told, misfits);
        EXPECT_EQ(std::count(grid.begin(), grid.end(), fill), misfits);
    }
}

TEST(Lists, AShareIsToldItsRunsAlone) {
    Numbers indices;
    for (std::int64_t i = 0; i < 1000; ++i) indices.push_back(2 * i);
    auto list = std::make_shared<IndexList>();
    std::int64_t twice = -1;
    ASSERT_TRUE(compress(indices, 2000, 2000, false, *list, twice).ok());
    const Numbers shape{2000};
    const HeldBox held =
        held_list(std::make_shared<const Listing>(Listing{list, {0}, shape}), shape);
    Box frame = held.box;
    frame.low[0] = 100;
    frame.count[0] = 20;
    EXPECT_EQ(held_near(held, {&frame, 1}).list->list->elements, 10);
    EXPECT_EQ(held_near(held, {&held.box, 1}).list, held.list);
}

}  // namespace
