// SPDX-License-Identifier: Apache-2.0
#include "service/queue/writer/unit_writer.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/clock.hpp"
#include "service/queue/rank/unit_queue.hpp"
#include "service/setup.hpp"

using namespace thalweg::detail;

namespace {

/// The ranks of a node, and its only writer. Variable 'v' has 8 ints in a record; 'f' has 4 and no
/// records. Counts the writer's calls, and lets it send only when the test permits it.
struct Host final : UnitWriterEvents {
    bool sends_on = false, may = false;
    int sent = 0, parts = 0, reports = 0;
    std::vector<int> senders;  ///< ranks of other nodes whose messages were used

    bool forwards() const override { return sends_on; }
    bool may_forward() override { return may; }
    void forward(std::span<const UnitPart> unit_parts) override {
        parts += static_cast<int>(unit_parts.size());
        ++sent;
    }
    void report() override { ++reports; }
    void accepted(int sender) override { senders.push_back(sender); }
};

/// A file in which chunks get an address only when the test permits it.
struct PlacedFile final : MemoryStorage, Placement {
    bool placed = false;  ///< the chunks that the test has packed now have an address
    std::int64_t given = 0, there = 0, ended = 0;
    Status broken;

    Placement* placement() override { return placed ? this : nullptr; }
    Status write(std::span<const Chunk> chunks) override {
        ++given;
        return MemoryStorage::write(chunks);
    }
    Status end_unit(std::int64_t n, bool) override {
        ended = n;
        return {};
    }
    Status settle(bool&) override { return broken; }
    std::int64_t packed() const override { return given; }
    std::int64_t settled() const override { return there; }
    bool beside_header_writer() const override { return true; }
    std::int64_t room_wanted() override { return 0; }
    void give_room(std::int64_t) override {}
    std::vector<char> take_placed() override { return {}; }
    std::int64_t take_room(std::int64_t) override { return 0; }
    void add_placed(std::span<const char>) override {}
};

struct Office {
    Plan plan;
    PlacedFile file;
    std::unique_ptr<Comm> comm = make_serial_comm();
    Futex doorbell{0};
    std::vector<std::unique_ptr<UnitQueue>> ranks;
    std::unique_ptr<UnitWriter> unit_writer;
    Host host;

    /// @param first size in bytes of the first rank's queue
    /// @param placed the file has packed chunks, and is durable
    explicit Office(int n, bool others = false, std::int64_t first = 1 << 16, bool placed = false) {
        file.placed = placed;
        plan.add("v", TW_INT, {8}, true);
        plan.add("f", TW_INT, {4}, false);
        plan.lay_out();
        ServicePlan of;
        of.definitions = &plan.definitions;
        of.whole = plan.whole;
        of.path = "x.nc";
        of.layout.method = "serial";
        of.rank = 9;
        of.options.durable = placed;
        unit_writer = std::make_unique<UnitWriter>(of, plan.spaces, 0, file, host);
        for (int r = 0; r < n; ++r) {
            Status status;
            auto memory = QueueMemory::make(r == 0 ? first : 1 << 16, {}, status);
            EXPECT_TRUE(unit_writer->add_region(memory->name()).ok());
            ranks.push_back(std::make_unique<UnitQueue>(std::move(memory), 1, doorbell, *comm));
        }
        if (others) {
            unit_writer->sources().add_sender(77);
            unit_writer->rounds().others_have(0);
        }
    }
    std::int64_t done(int rank) { return ranks[static_cast<std::size_t>(rank)]->region().done[0]; }
    Status failure(int rank) { return ranks[static_cast<std::size_t>(rank)]->region().failure(); }
    void work() {
        while (unit_writer->work()) {
        }
    }
    /// @return false if the rank cannot publish because its queue is full
    bool publish(int rank, Sent sent) {
        UnitQueue& unit_queue = *ranks[static_cast<std::size_t>(rank)];
        for (std::size_t i = 0; i < sent.unit_part.entries.size(); ++i) {
            char* to = unit_queue.take(static_cast<std::int64_t>(sent.data[i]->size()));
            if (to == nullptr) return false;
            std::memcpy(to, sent.data[i]->data(), sent.data[i]->size());
            sent.unit_part.entries[i].at = unit_queue.memory().position(to);
        }
        return unit_queue.publish(sent.unit_part);
    }
    /// Makes a unit in which a rank puts its part of a variable, or nothing if `variable` is -1.
    Sent unit(UnitKind kind, int rank, int of, int variable) {
        Sent s = empty_unit_part(plan, kind, rank);
        for (int i = 0; i < 2; ++i) {
            if (i == variable) continue;
            s.unit_part.lacking[0] |= 1 << i;
        }
        if (variable < 0) return s;
        set_put(s, variable);
        s.add(plan, variable, part(variable, rank, of), 1);
        return s;
    }
    Box part(int variable, int rank, int of) const {
        const std::int64_t n =
            plan.definitions.variables[static_cast<std::size_t>(variable)].elements();
        Box box;
        box.nd = 1;
        box.low[0] = n * rank / of;
        box.count[0] = n * (rank + 1) / of - box.low[0];
        return box;
    }
};

}  // namespace

TEST(UnitWriter, KeepsAFailureAndDiscardsTheRest) {
    Office o(2);
    for (int r = 0; r < 2; ++r) o.publish(r, o.unit(UnitKind::step, r, 2, 0));
    o.work();
    const auto before = *o.file.bytes;
    o.file.failure = thalweg::detail::failure(TW_EIO, "x.nc: no space");
    for (int r = 0; r < 2; ++r) o.publish(r, o.unit(UnitKind::step, r, 2, 0));
    o.work();
    o.file.failure = {};
    for (int r = 0; r < 2; ++r) {
        EXPECT_EQ(o.failure(r).code, TW_EIO);
        EXPECT_EQ(o.failure(r).text, "x.nc: no space (rank 9)");
        EXPECT_EQ(o.done(r), 2);
    }
    // After this, no rank waits for another.
    o.publish(1, o.unit(UnitKind::step, 1, 2, 0));
    o.publish(1, o.unit(UnitKind::step, 1, 2, 0));
    o.work();
    EXPECT_EQ(o.done(1), 4);
    EXPECT_EQ(o.done(0), 2);
    EXPECT_EQ(*o.file.bytes, before);
    EXPECT_EQ(o.unit_writer->progress().counted(), 1);
    EXPECT_EQ(o.file.records, std::vector<std::int64_t>{1});
}

TEST(UnitWriter, CountsRecordsThatAllWritersHave) {
    Office o(1, true);
    for (int k = 0; k < 3; ++k) {
        o.publish(0, o.unit(UnitKind::step, 0, 1, 0));
        o.unit_writer->sources().deliver(77, {});
    }
    o.work();
    EXPECT_EQ(o.unit_writer->rounds().done(), 3);
    EXPECT_EQ(o.unit_writer->progress().records(), 3);
    EXPECT_TRUE(o.file.records.empty());
    o.unit_writer->rounds().others_have(2);
    o.work();
    EXPECT_EQ(o.file.records, std::vector<std::int64_t>{2});
    o.unit_writer->rounds().others_have(3);
    o.work();
    EXPECT_EQ(o.file.records, (std::vector<std::int64_t>{2, 3}));
}

// Packed chunks leave the queue at once, but records are counted only when the chunks have an
// address in the file.
TEST(UnitWriter, CountsRecordsThatHaveAPlace) {
    Office o(1, false, 1 << 16, true);
    for (int k = 0; k < 3; ++k) o.publish(0, o.unit(UnitKind::step, 0, 1, 0));
    o.publish(0, o.unit(UnitKind::fixed, 0, 1, -1));
    o.work();
    EXPECT_EQ(o.done(0), 4);
    EXPECT_EQ(o.file.given, 3);
    EXPECT_EQ(o.file.ended, 3);
    EXPECT_EQ(o.unit_writer->rounds().done(), 0);
    EXPECT_EQ(o.unit_writer->rounds().marks(), 0);
    EXPECT_TRUE(o.file.records.empty());
    EXPECT_EQ(o.file.syncs, 0);
    o.file.there = 2;
    o.work();
    EXPECT_EQ(o.unit_writer->rounds().done(), 2);
    EXPECT_EQ(o.file.records, std::vector<std::int64_t>{2});
    EXPECT_GT(o.file.syncs, 0);
    {
        const auto held = o.unit_writer->hold();
        EXPECT_FALSE(o.unit_writer->settle_all());
        o.file.there = 3;
        EXPECT_TRUE(o.unit_writer->settle_all());
    }
    EXPECT_EQ(o.unit_writer->rounds().done(), 4);
    EXPECT_EQ(o.unit_writer->rounds().marks(), 1);
    o.work();
    EXPECT_EQ(o.file.records, (std::vector<std::int64_t>{2, 3}));
    // If a chunk gets no address, no record is counted.
    o.publish(0, o.unit(UnitKind::step, 0, 1, 0));
    o.work();
    o.file.broken = thalweg::detail::failure(TW_EIO, "x.nc: no space");
    o.work();
    EXPECT_EQ(o.failure(0).text, "x.nc: no space (rank 9)");
    o.file.broken = {};
    o.file.there = 4;
    o.work();
    EXPECT_EQ(o.unit_writer->rounds().done(), 4);
    EXPECT_EQ(o.file.records, (std::vector<std::int64_t>{2, 3}));
    const auto held = o.unit_writer->hold();
    EXPECT_TRUE(o.unit_writer->settle_all());  // after the failure, no rank waits for an address
}

TEST(UnitWriter, SendsOnOnceAndTellsWhatWasAccepted) {
    Office o(2, true);
    o.host.sends_on = true;
    for (int r = 0; r < 2; ++r) o.publish(r, o.unit(UnitKind::step, r, 2, 0));
    o.work();
    EXPECT_EQ(o.host.sent, 0);
    o.host.may = true;
    o.work();
    o.work();
    EXPECT_EQ(o.host.sent, 1);
    EXPECT_TRUE(o.host.senders.empty());
    o.unit_writer->sources().deliver(77, std::vector<char>{});
    o.work();
    EXPECT_EQ(o.host.sent, 1);
    EXPECT_EQ(o.host.senders, std::vector<int>{77});
    EXPECT_EQ(o.unit_writer->rounds().done(), 1);
    EXPECT_EQ(o.unit_writer->sources().waiting_bytes(), 0);
}

// Boxes from another node arrive after a unit was sent there: it is not sent again.
TEST(UnitWriter, WhatBoxesOvertakeIsSentOnce) {
    Office o(2, true);
    o.host.sends_on = o.host.may = true;
    const auto arrive = [&](UnitKind kind) {
        std::vector<char> message;
        Sent s = empty_unit_part(o.plan, kind, 5);
        append_clipped(s.unit_part, o.unit_writer->layout(), 0, o.plan.spaces,
                       o.plan.definitions.variables, message);
        o.unit_writer->sources().deliver(77, std::move(message));
    };
    const auto both = [&](UnitKind kind) {
        for (int r = 0; r < 2; ++r) o.publish(r, o.unit(kind, r, 2, -1));
        o.work();
    };
    both(UnitKind::step);
    EXPECT_EQ(o.host.sent, 1);
    arrive(UnitKind::boxes);
    o.work();
    EXPECT_EQ(o.host.senders.size(), 1U);
    EXPECT_EQ(o.unit_writer->rounds().done(), 0);
    arrive(UnitKind::step);
    o.work();
    EXPECT_EQ(o.host.sent, 1);
    EXPECT_EQ(o.unit_writer->rounds().done(), 1);
    both(UnitKind::last);
    EXPECT_EQ(o.host.sent, 2);
    arrive(UnitKind::last);
    o.work();
    EXPECT_EQ(o.host.sent, 2);
    EXPECT_EQ(o.unit_writer->rounds().marks(), 1);
    EXPECT_TRUE(o.unit_writer->state().failure().ok()) << o.unit_writer->state().failure().text;
}

namespace {

/// Makes a unit of boxes with a rank's part of 'v' in a record.
Sent boxes_of(const Office& o, int rank, std::int64_t record) {
    Sent s = empty_unit_part(o.plan, UnitKind::boxes, rank);
    s.unit_part.head.boxed = true;
    s.unit_part.head.records = record + 1;
    s.add(o.plan, 0, o.part(0, rank, static_cast<int>(o.ranks.size())), 1, record);
    return s;
}

}  // namespace

// Steps are written in their order, boxes too.
TEST(UnitWriter, ALaterStepWaitsForTheRanksThatLackAnEarlierOne) {
    Office o(2);
    const auto step = [&](int rank, std::int64_t record) {
        Sent s = boxes_of(o, rank, record);
        s.unit_part.head.kind = UnitKind::step;
        return s;
    };
    o.publish(0, step(0, 0));
    o.publish(0, boxes_of(o, 0, 1));
    o.work();
    EXPECT_EQ(o.done(0), 0);
    o.publish(1, step(1, 0));
    o.work();
    EXPECT_EQ(o.done(0), 1);
    EXPECT_EQ(o.file.records, (std::vector<std::int64_t>{1}));
    // Rank 0 waits for room, and rank 1 for rank 0 in another call.
    Region& first = o.ranks[0]->region();
    o.publish(0, step(0, 1));
    o.publish(0, step(0, 2));
    first.waiting = 1;
    o.work();
    EXPECT_FALSE(o.ranks[0]->stuck());
    o.ranks[1]->note_call();
    o.work();
    EXPECT_TRUE(o.ranks[0]->stuck());
    // An error names the rank that lacks the step.
    Office lacking(2);
    Sent none = step(0, 0);
    none.unit_part.lacking[0] = 1;
    lacking.publish(0, none);
    lacking.publish(1, lacking.unit(UnitKind::step, 1, 2, 0));
    lacking.work();
    EXPECT_EQ(lacking.unit_writer->state().failure().text,
              "x.nc: variable 'v' of record 0 was not put on rank 0, but was on others");
}

// Boxes of a single rank are parts of rows. If they were written at once, the rows would have to be
// read and rewritten for the boxes of other ranks. A close waits for all ranks in any case, so the
// writer must wait until it has the boxes of all.
TEST(UnitWriter, BoxesOfAllRanksAreWrittenOnce) {
    Office o(3);
    for (int r = 0; r < 3; ++r) {
        EXPECT_EQ(o.file.counts().calls, 0);
        o.publish(r, boxes_of(o, r, 0));
        o.publish(r, o.unit(UnitKind::last, r, 3, -1));
        o.work();
    }
    EXPECT_EQ(o.unit_writer->rounds().marks(), 1);
    // The bytes of 'v', and those of 'f', which are fill values.
    EXPECT_EQ(o.file.counts().bytes, 32 + 16);
    EXPECT_EQ(o.file.counts().calls, 2);
    // Boxes of a rank that waits for space are written without waiting for other ranks.
    Office pressed(2);
    pressed.publish(0, boxes_of(pressed, 0, 0));
    pressed.work();
    EXPECT_EQ(pressed.done(0), 0);
    pressed.ranks[0]->region().waiting = 1;
    pressed.work();
    EXPECT_EQ(pressed.done(0), 1);
}

// A rank of another node is in a collective call, and has not published the unit that this node's
// ranks have published.
TEST(UnitWriter, WhoWaitsForRanksOfOtherNodesIsTold) {
    Office o(2, true);
    for (int r = 0; r < 2; ++r) o.publish(r, o.unit(UnitKind::step, r, 2, 0));
    Region& first = o.ranks[0]->region();
    first.waiting = 1;
    o.unit_writer->sources().learn({1, 1});
    o.work();
    EXPECT_FALSE(o.ranks[0]->stuck());  // rank 0 has published nothing that the other rank has not
    o.unit_writer->sources().learn({0, 1});
    o.work();
    EXPECT_TRUE(o.ranks[0]->stuck());
    EXPECT_FALSE(o.ranks[1]->stuck());  // rank 1 has space in its queue
    // The ranks enter the collective call; nothing is known about the next one.
    for (auto& rank : o.ranks) rank->note_call();
    o.work();
    EXPECT_FALSE(o.ranks[0]->stuck());
    o.unit_writer->sources().learn({0, 2});
    o.work();
    EXPECT_TRUE(o.ranks[0]->stuck());
    EXPECT_EQ(o.unit_writer->sources().deadlock().call, 2U);
}

// Ranks publish the same units and make a collective call. The first rank waits for space, and the
// last one is slow.
TEST(UnitWriter, ARankThatWaitsForRoomIsNotStuck) {
    Office o(3, false, 512);
    std::atomic<bool> stuck{false};
    std::atomic<int> there{0}, running{3};
    std::vector<std::thread> ranks;
    for (int r = 0; r < 3; ++r)
        ranks.emplace_back([&, r] {
            for (int call = 1; call <= 300 && !stuck; ++call) {
                for (int unit = 0; unit < 3; ++unit) {
                    if (r == 2) sleep_seconds(100e-6);
                    if (!o.publish(r, o.unit(UnitKind::step, r, 3, 0))) stuck = true;
                }
                o.ranks[static_cast<std::size_t>(r)]->note_call();
                ++there;
                while (there < 3 * call && !stuck) std::this_thread::yield();
            }
            --running;
        });
    while (running > 0) o.unit_writer->work();
    for (std::thread& t : ranks) t.join();
    EXPECT_FALSE(stuck);
}
