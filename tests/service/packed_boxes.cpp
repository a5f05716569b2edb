// SPDX-License-Identifier: Apache-2.0
#include "service/queue/packed_boxes.hpp"

#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "exchange/pack/dense.hpp"
#include "exchange/parts.hpp"
#include "service/setup.hpp"

using namespace thalweg::detail;

namespace {

/// Makes a random list over some adjacent dimensions, with or without holes.
std::shared_ptr<const Decomposition> random_list(const std::vector<std::int64_t>& shape,
                                                 bool with_holes, Random& random) {
    auto d = std::make_shared<Decomposition>();
    d->shape = shape;
    auto listed = std::make_shared<Listed>();
    const auto nd = static_cast<std::int64_t>(shape.size());
    listed->first = static_cast<int>(random.below(nd));
    listed->count = static_cast<int>(random.between(1, nd - listed->first));
    const std::span of = std::span(shape).subspan(static_cast<std::size_t>(listed->first),
                                                  static_cast<std::size_t>(listed->count));
    std::vector<std::int64_t> indices;
    for (std::int64_t i = 0; i < volume(of); ++i) {
        if (random.percent(60)) indices.push_back(i);
        if (with_holes && random.percent(30)) indices.push_back(-1);
    }
    if (random.percent(60)) random.shuffle(indices);
    auto list = std::make_shared<IndexList>();
    std::int64_t twice = -1;
    EXPECT_TRUE(compress(indices, volume(of), of.back(), false, *list, twice).ok());
    listed->length = static_cast<std::int64_t>(indices.size());
    listed->list = list;
    d->listed = listed;
    d->held = list->elements * (volume(shape) / volume(of));
    return d;
}

struct Holder : Plan {
    Holdings holdings;
};

/// Makes variables that are held as boxes or lists. Some of them have the same holding.
Holder random_holder(Random& random) {
    Holder plan;
    for (std::int64_t n = random.between(1, 5), i = 0; i < n; ++i) {
        std::vector<std::int64_t> shape;
        for (std::int64_t d = random.between(1, 4); d > 0; --d)
            shape.push_back(random.between(1, 7));
        plan.add("v" + std::to_string(i), TW_INT, shape, random.percent(60));
        auto& variables = plan.definitions.variables;
        if (i > 0 && random.percent(30)) {
            variables.back() = variables[0];
            plan.holdings.push_back(plan.holdings.front());
            continue;
        }
        Variable& v = variables.back();
        std::shared_ptr<const Decomposition> decomposition;
        if (random.percent(70)) {
            decomposition = random_list(shape, random.percent(50), random);
        } else {
            auto d = std::make_shared<Decomposition>();
            d->shape = shape;
            d->blocks = random_boxes(v, true, 2, random)[0];
            for (const Box& box : d->blocks) d->held += box.volume();
            decomposition = d;
        }
        std::vector<int> order(shape.size());
        std::iota(order.begin(), order.end(), 0);
        random.shuffle(order);
        for (std::size_t f = 0; f < order.size(); ++f)
            v.shape[f] = shape[static_cast<std::size_t>(order[f])];
        plan.holdings.push_back(make_holding(std::move(decomposition), std::move(order), v.shape));
    }
    return plan;
}

/// Returns the positions in the file of the elements of held boxes, in packed order.
std::vector<std::int64_t> in_order(const Variable& v, std::span<const HeldBox> all) {
    std::map<std::int64_t, std::int64_t> at;  // position in the file, by packed offset
    std::int64_t begin = 0;
    for (const HeldBox& held : all) {
        const Index stride = dense_strides(held, 1);
        for_runs(held, held.box, [&](const HeldBox& run, const Box& part) {
            Sent::for_elements(v, part, [&](std::int64_t element) {
                std::int64_t rest = element, offset = begin + offset_in(run, part, stride);
                for (std::size_t d = v.shape.size(); d-- > 0; rest /= v.shape[d])
                    offset += (rest % v.shape[d] - part.low[d]) * stride[d];
                EXPECT_TRUE(at.emplace(offset, element).second);
            });
        });
        begin += elements_of(held);
    }
    std::vector<std::int64_t> result;
    for (const auto& [offset, element] : at) {
        EXPECT_EQ(offset, static_cast<std::int64_t>(result.size()));  // without holes
        result.push_back(element);
    }
    return result;
}

}  // namespace

TEST(PackedBoxes, AreToldAsTheyAre) {
    Random random(1);
    for (int k = 0; k < 300; ++k) {
        const Holder plan = random_holder(random);
        const auto& variables = plan.definitions.variables;
        const PackedBoxes own(plan.holdings);
        const PackedBoxes told(own.words().data(), variables);
        EXPECT_EQ(told.words(), own.words());
        for (std::size_t i = 0; i < variables.size(); ++i) {
            const Variable& v = variables[i];
            const auto at = static_cast<int>(i);
            const auto elements = in_order(v, told.of(at));
            EXPECT_EQ(elements, in_order(v, own.of(at)));
            // Both visit the elements of the decomposition, in its order if no list has holes.
            const Decomposition& d = *plan.holdings[i]->decomposition;
            const auto& held = plan.holdings[i]->held;
            if (!d.listed || d.listed->length == d.listed->list->elements) {
                EXPECT_EQ(elements, in_order(v, held));
            } else {
                EXPECT_EQ(static_cast<std::int64_t>(elements.size()), d.held);
            }
            ASSERT_EQ(told.of(at).size(), held.size());
            for (std::size_t h = 0; h < held.size(); ++h) {
                EXPECT_EQ(told.of(at)[h].first, held[h].first);
                EXPECT_EQ(told.of(at)[h].last, held[h].last);
            }
        }
    }
}

TEST(PackedBoxes, TellAListOnce) {
    Random random(2);
    const std::vector<std::int64_t> shape{5000};
    const auto holding = make_holding(random_list(shape, false, random), {0}, shape);
    const auto one = PackedBoxes({holding}).words().size();
    EXPECT_EQ(PackedBoxes(Holdings(10, holding)).words().size(), one + 9);
}

// Adjacent ranges of a variable together contain each element once.
TEST(PackedBoxes, RangesMakeTheWhole) {
    Random random(3);
    for (int k = 0; k < 300; ++k) {
        const Holder plan = random_holder(random);
        const PackedBoxes boxes(plan.holdings);
        const Variable& v = plan.definitions.variables[0];
        std::vector<std::int64_t> seen, all = in_order(v, boxes.of(0));
        const std::int64_t step = random.between(1, 40);
        for (std::int64_t begin = 0; begin < v.elements(); begin += step) {
            const ElementRange range{begin, std::min(v.elements(), begin + step)};
            for (const std::int64_t e : in_order(v, held_of_range(boxes.of(0), v.shape, range))) {
                EXPECT_GE(e, range.begin);
                EXPECT_LT(e, range.end);
                seen.push_back(e);
            }
        }
        std::sort(all.begin(), all.end());
        std::sort(seen.begin(), seen.end());
        EXPECT_EQ(seen, all);
    }
}
