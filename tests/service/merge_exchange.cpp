// SPDX-License-Identifier: Apache-2.0
#include "service/inline/merge_exchange.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "system/random.hpp"

using namespace thalweg::detail;

namespace {

constexpr std::int64_t description = 256;

Box random_box(Random& random, const std::vector<std::int64_t>& shape) {
    Box box;
    for (const std::int64_t length : shape) {
        box.low[box.nd] = random.below(length);
        box.count[box.nd] = random.between(1, length - box.low[box.nd]);
        ++box.nd;
    }
    return box;
}

}  // namespace

// Each element is in one round, in the order of the parts. No round exceeds the limit.
TEST(MergeExchange, HoldAllPartsInOrder) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        Variable v;
        v.type = TW_INT;
        v.shape = {random.between(1, 30), random.between(1, 30), random.between(1, 30)};
        const std::span<const Variable> variables(&v, 1);
        std::vector<PackedValues> boxes(static_cast<std::size_t>(random.below(6)));
        std::vector<std::vector<int>> seen;
        std::int64_t all = 0;
        for (PackedValues& entry : boxes) {
            const Box box = random_box(random, v.shape);
            entry.record = &entry - boxes.data();  // a number of the box
            entry.held = held_box(box, v.shape);
            entry.within = box;
            EXPECT_EQ(message_bytes(entry, variables), 4 * box.volume() + description);
            all += 4 * box.volume() + description;
            seen.emplace_back(static_cast<std::size_t>(box.volume()), 0);
        }
        const std::int64_t most = random.between(4 << 10, 256 << 10);
        const auto rounds = cut_to_rounds(boxes, variables, most);
        std::int64_t last = 0;
        for (const auto& round : rounds) {
            std::int64_t bytes = 0;
            for (const PackedValues& piece : round) {
                EXPECT_GE(piece.record, last);
                last = piece.record;
                const Box& held = piece.held.box;
                std::vector<int>& of = seen[static_cast<std::size_t>(last)];
                const Box& w = *piece.within;
                const std::span<const std::int64_t> shape(held.count.data(), 3);
                for (std::int64_t i = 0; i < w.volume(); ++i) {
                    const Index at = {
                        w.low[0] + i / w.count[2] / w.count[1] - held.low[0],
                        w.low[1] + i / w.count[2] % w.count[1] - held.low[1],
                        w.low[2] + i % w.count[2] - held.low[2],
                    };
                    ++of[static_cast<std::size_t>(linear(shape, at))];
                }
                bytes += 4 * w.volume() + description;
            }
            EXPECT_LE(bytes, most);
        }
        for (const auto& of : seen)
            EXPECT_TRUE(std::all_of(of.begin(), of.end(), [](int n) { return n == 1; }));
        EXPECT_LE(std::ssize(rounds), 2 * all / most + 1);
    }
}
