// Tests reading without an exchange: the count of runs, and that every element gets to its place
// with any size of the buffer.
// SPDX-License-Identifier: Apache-2.0
#include "exchange/read/straight.hpp"

#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "support/decompose.hpp"
#include "support/given.hpp"
#include "system/random.hpp"

using namespace thalweg::detail;

namespace {

/// A source with two variables. Each element has its position as its value.
struct Numbered : Source {
    std::vector<ReadRange> asked;
    std::int64_t fails_at = -1;  ///< number of the call that fails

    Status refresh(Comm&) override { return {}; }
    std::int64_t position(int, std::int64_t) const override { return 0; }
    Status check(int, std::int64_t) const override { return {}; }
    Status read(std::span<const ReadRange> ranges) override {
        for (const ReadRange& r : ranges) {
            if (static_cast<std::int64_t>(asked.size()) == fails_at)
                return failure(TW_EIO, "numbers: no more");
            asked.push_back(r);
            auto* to = reinterpret_cast<std::int32_t*>(r.to);
            std::iota(to, to + r.elements, static_cast<std::int32_t>(1000 * r.variable + r.first));
        }
        return {};
    }
    void forget() override {}
};

/// A box of a grid. The order in memory is that of the file.
struct Sample {
    FileSection space;
    std::vector<PlaceSource> sources;
    std::shared_ptr<const Decomposition> decomposition;
    std::vector<int> order;
    std::vector<std::vector<std::int32_t>> arrays;
    std::vector<Delivery> deliveries;

    Sample(std::vector<std::int64_t> shape, const Box& box, int variables = 1) {
        std::vector<std::string> dims;
        for (std::size_t d = 0; d < shape.size(); ++d) {
            dims.push_back(std::string(1, static_cast<char>('a' + d)));
            order.push_back(static_cast<int>(d));
        }
        const auto comm = make_serial_comm();
        EXPECT_TRUE(make_decomposition(*comm, given(dims, shape, {box}), decomposition).ok());
        arrays.assign(static_cast<std::size_t>(variables),
                      std::vector<std::int32_t>(static_cast<std::size_t>(box.volume()), -1));
        for (int v = 0; v < variables; ++v) {
            VariableSlot p;
            p.variable = v;
            p.element = 4;
            p.offset = space.bytes;
            p.shape = shape;
            p.bytes = p.padded = 4 * volume(shape);
            space.bytes += p.bytes;
            space.places.push_back(p);
            sources.push_back({v, 0, {}});
        }
        for (int v = variables - 1; v >= 0; --v) {  // in another order than that of the file
            Delivery d;
            d.place = static_cast<std::size_t>(v);
            d.decomposition = decomposition.get();
            d.order = order;
            d.array.data = reinterpret_cast<char*>(arrays[d.place].data());
            d.array.type = TW_INT;
            d.boxes = wanted_boxes(*decomposition, order, shape, false);
            d.kernel = unpack_kernel(TW_INT, TW_INT, Order::native, false);
            deliveries.push_back(d);
        }
    }
};

}  // namespace

TEST(Straight, CountsRuns) {
    const auto runs = [](std::vector<std::int64_t> low, std::vector<std::int64_t> count) {
        Sample s({4, 5, 6}, box_of(low, count));
        const RunCounts counts = count_runs(s.space, s.deliveries);
        EXPECT_EQ(counts.against, 0);
        return std::pair(counts.runs, counts.bytes);
    };
    EXPECT_EQ(runs({0, 0, 0}, {4, 5, 6}), (std::pair<std::int64_t, std::int64_t>(1, 480)));
    EXPECT_EQ(runs({1, 0, 0}, {2, 5, 6}), (std::pair<std::int64_t, std::int64_t>(1, 240)));
    EXPECT_EQ(runs({1, 2, 0}, {2, 3, 6}), (std::pair<std::int64_t, std::int64_t>(2, 144)));
    EXPECT_EQ(runs({1, 2, 3}, {2, 3, 1}), (std::pair<std::int64_t, std::int64_t>(6, 24)));
    EXPECT_EQ(runs({1, 0, 3}, {2, 5, 3}), (std::pair<std::int64_t, std::int64_t>(10, 120)));
}

TEST(Straight, PartsThatOneReaderShouldHaveAreAgainstIt) {
    Sample s({4, 6}, box_of({0, 0}, {4, 6}));
    s.space.places[0].grain = 48;
    EXPECT_EQ(count_runs(s.space, s.deliveries).against, 1);
}

TEST(Straight, ReadsEachRunOnceInTheOrderOfTheFile) {
    Sample s({4, 6}, box_of({1, 0}, {2, 6}), 2);
    Numbered source;
    std::vector<char> buffer(32);  // space for 8 elements; the runs have 12
    StreamCounts counts;
    EXPECT_TRUE(read_straight(s.space, s.sources, s.deliveries, source, buffer, counts).ok());
    std::vector<std::array<std::int64_t, 3>> asked;
    for (const ReadRange& r : source.asked) asked.push_back({r.variable, r.first, r.elements});
    EXPECT_EQ(asked, (std::vector<std::array<std::int64_t, 3>>{
                         {0, 6, 8}, {0, 14, 4}, {1, 6, 8}, {1, 14, 4}}));
}

TEST(Straight, EveryElementComesToItsPlace) {
    Random random(11);
    for (int i = 0; i < 300; ++i) {
        const auto nd = static_cast<std::size_t>(random.between(1, 4));
        std::vector<std::int64_t> shape, low, count;
        for (std::size_t d = 0; d < nd; ++d) {
            shape.push_back(random.between(1, 5));
            low.push_back(random.below(shape[d]));
            count.push_back(random.between(1, shape[d] - low[d]));
        }
        const Box box = box_of(low, count);
        Sample s(shape, box, 2);
        Numbered source;
        std::vector<char> buffer(static_cast<std::size_t>(random.between(8, 200)));
        StreamCounts counts;
        ASSERT_TRUE(read_straight(s.space, s.sources, s.deliveries, source, buffer, counts).ok());
        std::size_t k = 0;
        for (std::int64_t e = 0; e < volume(shape); ++e) {
            std::int64_t rest = e;
            bool inside = true;
            for (std::size_t d = nd; d-- > 0; rest /= shape[d])
                inside &= rest % shape[d] >= low[d] && rest % shape[d] < low[d] + count[d];
            if (!inside) continue;
            ASSERT_EQ(s.arrays[0][k], e) << i;
            ASSERT_EQ(s.arrays[1][k], 1000 + e) << i;
            ++k;
        }
        std::int64_t read = 0;
        for (const ReadRange& r : source.asked) read += r.elements;
        EXPECT_EQ(read, 2 * box.volume());
    }
}

TEST(Straight, EndsAtAFailure) {
    Sample s({4, 6}, box_of({0, 1}, {4, 2}));
    Numbered source;
    source.fails_at = 2;
    std::vector<char> buffer(32);
    StreamCounts counts;
    EXPECT_EQ(read_straight(s.space, s.sources, s.deliveries, source, buffer, counts).text,
              "numbers: no more");
    EXPECT_EQ(source.asked.size(), 2U);
}
