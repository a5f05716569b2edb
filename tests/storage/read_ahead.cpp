// SPDX-License-Identifier: Apache-2.0
#include "storage/read_ahead.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <random>

using namespace thalweg::detail;

namespace {

/// A source whose bytes contain their own position. Reading a record can be made to fail, or to
/// take time.
class Fake : public RangeReader {
public:
    bool prepare(std::span<const ReadRange> ranges) override {
        return std::none_of(ranges.begin(), ranges.end(), [&](const ReadRange& range) {
            return range.record == unprepared_record;
        });
    }
    Status read(std::span<const ReadRange> ranges) override {
        for (const ReadRange& r : ranges) {
            if (r.record == bad_record) return failure(TW_EIO, "no");
            for (std::int64_t i = 0; i < r.elements; ++i)
                r.to[i] = static_cast<char>(byte(r, i) + version);
        }
        sleep_seconds(pause);
        ++reads;
        return {};
    }
    void forget() override {}
    static char byte(const ReadRange& r, std::int64_t i) {
        return static_cast<char>(r.variable * 7 + r.record * 31 + r.first + i);
    }

    std::int64_t bad_record = -1, unprepared_record = -1;
    int version = 0;  ///< version of the file's contents
    double pause = 0;
    std::atomic<int> reads{0};
};

class ReadAheadTest : public testing::Test {
protected:
    void make(std::int64_t bytes) {
        memory.assign(static_cast<std::size_t>(bytes), 0);
        ahead = std::make_unique<ReadAhead>(source, memory.data(), bytes);
        ASSERT_TRUE(ahead->start().ok());
        ahead->pause();
    }
    static ReadRange range(const PlaceSource& of, int piece, char* to) {
        return {of.variable, of.record, &of.part, piece * 100, 100, to};
    }
    /// Expects a number of pieces of 100 bytes. Returns the number for which there was memory.
    int expect(PlaceSource of, int pieces, bool asked = false, bool spare = false) {
        for (int p = static_cast<int>(ahead->expect({of}, asked, spare)); p < pieces; ++p)
            if (!ahead->add(100, [&](char* to) {
                    return std::vector{range(ahead->expected().front(), p, to)};
                }))
                return p;
        return pieces;
    }
    /// Waits until the thread that reads ahead has made a number of reads.
    void let_read(int reads) {
        ahead->resume();
        while (source.reads < reads) sleep_seconds(1e-4);
        ahead->pause();
    }
    std::int64_t take(PlaceSource of, int piece, bool wait = false) {
        char base[100] = {};
        const ReadRange wanted = range(of, piece, base);
        const std::int64_t at = ahead->take({&wanted, 1}, base, wait);
        for (std::int64_t i = 0; at >= 0 && i < 100; ++i)
            EXPECT_EQ(memory[static_cast<std::size_t>(at + i)],
                      static_cast<char>(Fake::byte(wanted, i) + source.version));
        return at;
    }
    void forget(PlaceSource read, std::vector<PlaceSource> but = {}) {
        const std::vector<PlaceSource> kept[] = {std::move(but)};
        ahead->forget({read}, kept);
    }

    Fake source;
    std::vector<char> memory;
    std::unique_ptr<ReadAhead> ahead;
};

TEST_F(ReadAheadTest, GivesWhatWasExpectedOnce) {
    make(1024);
    EXPECT_EQ(expect({3, 5}, 2), 2);
    EXPECT_EQ(take({3, 5}, 0), -1) << "before it was read";
    let_read(2);
    EXPECT_GE(take({3, 5}, 0), 0);
    EXPECT_GE(take({3, 5}, 1), 0);
    EXPECT_EQ(take({3, 5}, 1), -1);
    EXPECT_EQ(ahead->counts().taken, 2 * 128);
    EXPECT_EQ(ahead->counts().unused, 0);
}

TEST_F(ReadAheadTest, AnotherGetArgumentsFindsNothing) {
    make(1024);
    expect({3, 5}, 1);
    let_read(1);
    EXPECT_EQ(take({3, 6}, 0), -1);
    EXPECT_EQ(take({4, 5}, 0), -1);
    PlaceSource part{3, 5};
    part.part.file = 1;
    EXPECT_EQ(take(part, 0), -1);
    EXPECT_EQ(take({3, 5}, 1), -1);
    char base[100] = {};
    const PlaceSource of{3, 5};
    ReadRange shifted = range(of, 0, base + 4);
    EXPECT_EQ(ahead->take({&shifted, 1}, base, true), -1) << "elsewhere in its piece";
    forget({4, 5});
    forget({3, 4}, {{3, 5}});
    EXPECT_TRUE(ahead->expects_others({{4, 5}}));
    EXPECT_FALSE(ahead->expects_others({{3, 6}}));
    forget({3, 6});
    EXPECT_EQ(take({3, 5}, 0), -1) << "the guess was wrong";
    EXPECT_EQ(ahead->counts().unused, 128);
}

TEST_F(ReadAheadTest, WhatWasAskedStaysUntilItIsRead) {
    make(1024);
    expect({3, 5}, 1, true);
    let_read(1);
    forget({3, 6});
    EXPECT_GE(take({3, 5}, 0), 0);
    expect({3, 7}, 1, true);
    forget({3, 7});
    let_read(1);
    EXPECT_EQ(take({3, 7}, 0, true), -1);
}

TEST_F(ReadAheadTest, AFailedPieceIsNotThere) {
    make(1024);
    source.bad_record = 6;
    expect({1, 6}, 1);
    expect({1, 7}, 1);
    let_read(1);
    EXPECT_EQ(take({1, 6}, 0), -1);
    EXPECT_EQ(take({1, 6}, 0, true), -1);
    EXPECT_GE(take({1, 7}, 0), 0);
}

TEST_F(ReadAheadTest, WhatIsNotPreparedIsNotReadAndTakesNoMemory) {
    make(3 * 128);
    source.unprepared_record = 6;
    EXPECT_EQ(expect({1, 6}, 9), 9) << "it is read when it is wanted";
    EXPECT_EQ(expect({1, 7}, 9), 3);
    let_read(3);
    EXPECT_EQ(take({1, 6}, 0, true), -1);
    EXPECT_GE(take({1, 7}, 2), 0);
    EXPECT_EQ(source.reads, 3);
}

TEST_F(ReadAheadTest, WhatTheFileHasNowIsReadAgain) {
    make(1024);
    expect({1, 5}, 2, true);
    let_read(2);
    expect({1, 6}, 2);
    EXPECT_GE(take({1, 5}, 0), 0);
    source.version = 1;
    source.unprepared_record = 6;
    ahead->read_again();
    EXPECT_EQ(take({1, 5}, 1), -1) << "before it was read again";
    let_read(3);
    EXPECT_GE(take({1, 5}, 1), 0);
    EXPECT_EQ(take({1, 6}, 0, true), -1) << "it can no longer be read by the thread";
    EXPECT_EQ(source.reads, 3);
    EXPECT_EQ(ahead->counts().unused, 128);
}

TEST_F(ReadAheadTest, WhatIsWaitedForComesFirst) {
    make(100 * 128);
    source.pause = 0.002;
    expect({1, 0}, 90);
    expect({2, 0}, 5);
    ahead->resume();
    for (int p = 0; p < 5; ++p) EXPECT_GE(take({2, 0}, p, true), 0);
    EXPECT_LT(source.reads, 90);
    EXPECT_GE(take({1, 0}, 89, true), 0);
    EXPECT_EQ(source.reads, 95);
}

TEST_F(ReadAheadTest, StaysWithinItsMemory) {
    make(3 * 128 + 50);
    EXPECT_EQ(expect({1, 0}, 5), 3);
    EXPECT_EQ(expect({2, 0}, 1), 0);
    let_read(3);
    EXPECT_GE(take({1, 0}, 0), 0);
    EXPECT_EQ(expect({3, 0}, 1), 0) << "what is taken is in use until it is released";
    ahead->release();
    EXPECT_EQ(expect({1, 0}, 5), 4) << "a batch goes on where it ended";
    let_read(4);
    EXPECT_GE(take({1, 0}, 3), 0);
}

TEST_F(ReadAheadTest, WhatIsToSpareMakesRoom) {
    make(4 * 128);
    expect({1, 0}, 2, false, true);
    let_read(2);
    EXPECT_EQ(expect({2, 0}, 2), 2) << "there is no need yet";
    EXPECT_GE(take({1, 0}, 0), 0);
    ahead->release();
    EXPECT_EQ(expect({3, 0}, 5), 2);
    EXPECT_EQ(take({1, 0}, 1), -1);
    EXPECT_EQ(ahead->counts().unused, 128);
}

TEST_F(ReadAheadTest, WhatWasPassedOverMakesRoom) {
    make(4 * 128);
    expect({1, 0}, 2);
    expect({2, 0}, 2);
    let_read(4);
    forget({2, 0});
    EXPECT_EQ(expect({2, 1}, 4), 4);
    EXPECT_EQ(take({1, 0}, 0), -1);
    EXPECT_EQ(ahead->counts().unused, 4 * 128);
}

TEST_F(ReadAheadTest, PauseAndEndWaitForThePieceUnderWay) {
    make(1024);
    source.pause = 0.05;
    expect({1, 0}, 3);
    ahead->resume();
    sleep_seconds(0.01);
    ahead->pause();
    const int reads = source.reads;
    sleep_seconds(0.06);
    EXPECT_EQ(source.reads, reads) << "it stands still";
    ahead->resume();
    ahead.reset();
    EXPECT_LE(source.reads, 3);
}

TEST_F(ReadAheadTest, MemoryIsUsedAgainAndNeverTwice) {
    const std::int64_t bytes = 40 * 64;
    make(bytes);
    ahead->resume();
    std::mt19937 random(1);
    const auto some = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    for (std::int64_t record = 0; record < 300; ++record) {
        const int variable = some(4);
        const int pieces = expect({variable, record}, 1 + some(20), some(5) == 0, some(3) == 0);
        if (some(2) == 0) sleep_seconds(1e-4);
        const bool wait = some(2) == 0;
        for (int p = 0; p < pieces && take({variable, record}, p, wait) >= 0; ++p) continue;
        ahead->release();
        if (some(4) > 0) forget({variable, record});
    }
    for (int variable = 0; variable < 4; ++variable)
        for (std::int64_t record = 0; record < 300; ++record) forget({variable, record});
    EXPECT_EQ(expect({9, 0}, 100), bytes / 128) << "all memory is there again";
}

}  // namespace
