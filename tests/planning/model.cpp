// Tests the cost model: a case computed by hand, and general properties.
// SPDX-License-Identifier: Apache-2.0
#include "plan/model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

using namespace thalweg::detail;
using namespace thalweg::planning;

namespace {

/// A machine with round figures, so that expected results can be computed by hand.
class Model : public testing::Test {
protected:
    Model() {
        machine.pack = 1e9;
        machine.pack_node = 4e9;
        machine.agree = 1e-3;
        machine.latency = 1e-3;
        machine.message = 2e9;
        folder.create = 0.01;
        folder.rename = 0.02;
        folder.call = 0.001;
        folder.lock = 0.002;
        folder.processor = 0.5;
        folder.writers = {1, 2, 4};
        folder.rate = {1e9, 2e9, 3e9};
        folder.durable = {1e8, 2e8, 2e8};
        // 8 ranks on 2 nodes with 4 cores, and a writer on each node. Half of each writer's share
        // comes from the other node.
        work.ranks = 8;
        work.nodes = 2;
        work.cores = 4;
        work.writers = work.writer_nodes = 2;
        work.bytes = 8e8;
        work.rank_bytes = 1e8;
        work.writer_bytes = 4e8;
        work.calls = 200;
        work.locked = 10;
        work.received = work.sent = work.unpacked = 2e8;
        work.messages = 100;
        work.met = 1;
        work.piece = 1e6;
        work.files = 0.5;
    }
    Cost cost() const { return cost_of(machine, folder, work); }

    Machine machine;
    Folder folder;
    Work work;
};

}  // namespace

TEST_F(Model, ByHand) {
    const Cost c = cost();
    EXPECT_NEAR(c.agree, 2 * (1e-3 + 2e-3), 1e-12);  // up and down a tree of two nodes, twice
    EXPECT_NEAR(c.copy, 0.1, 1e-12);  // 1e8 bytes per rank at 1e9 bytes/s; 4e8 per node at 4e9
    EXPECT_NEAR(c.pack, 0.1, 1e-12);
    EXPECT_NEAR(c.own, 0.1, 1e-12);
    EXPECT_NEAR(c.message, 0.1 + 0.1, 1e-12);  // 2e8 bytes at 2e9 bytes/s, and 100 messages
    EXPECT_NEAR(c.unpack, 0.2, 1e-12);
    EXPECT_NEAR(c.compose, 0.4, 1e-12);
    EXPECT_NEAR(c.write, 0.2 + 0.4, 1e-12);  // 200 calls, and 4e8 bytes at 1e9 bytes/s
    EXPECT_NEAR(c.disk, 0.4, 1e-12);         // 8e8 bytes at 2e9 bytes/s
    EXPECT_NEAR(c.first, 0.001, 1e-12);      // one piece of 1e6 bytes at 1e9 bytes/s
    EXPECT_NEAR(c.lock, 0.02, 1e-12);
    // Each rank copies 5e7 bytes once more, each node sends 2e8 bytes at 2e9 bytes/s, and each rank
    // there gets a message.
    EXPECT_NEAR(c.exchange, 0.05 + 0.1 + 0.004, 1e-12);
    EXPECT_NEAR(c.metadata, 0.001 + 0.015, 1e-12);
    const Outcome in_calls = inline_outcome(c, 5);
    EXPECT_NEAR(in_calls.calls, 0.006 + 0.1 + (0.1 + 0.2 + 0.2 + 0.6 + 0.02) + 0.001 + 0.016,
                1e-12);
    EXPECT_NEAR(in_calls.period, 5 + in_calls.calls, 1e-12);
    EXPECT_EQ(in_calls.hidden, 0);
    const Outcome behind = background_outcome(c, folder, work, 5, true);
    EXPECT_NEAR(behind.calls, 0.1 + 0.006 + 0.154, 1e-12);
    EXPECT_NEAR(behind.behind, 0.4 + 0.6 + 0.02 + 0.001 + 0.016, 1e-12);
    EXPECT_NEAR(behind.period, 5 + behind.calls, 1e-12);
    EXPECT_NEAR(behind.hidden, behind.behind / (behind.calls + behind.behind), 1e-12);
}

TEST_F(Model, CompressingAndCollectiveCalls) {
    const Cost plain = cost();
    machine.compress = 1e8;
    work.compressed = true;
    work.stored = 0.25;
    work.rounds = 3;
    const Cost c = cost();
    EXPECT_NEAR(c.compress, 4, 1e-12);              // 4e8 bytes at 1e8 bytes/s
    EXPECT_NEAR(c.write, 0.2 + 0.4 * 0.25, 1e-12);  // the same number of calls, fewer bytes
    // Each round has an agreement and a call; half of the bytes are sent between the nodes once
    // more.
    EXPECT_NEAR(c.rounds, 3 * (3e-3 + 1e-3) + 0.2, 1e-12);
    const double less = 0.3 + plain.first * 0.75;
    const double more = c.compress + c.rounds - less;
    EXPECT_NEAR(inline_outcome(c, 5).calls, inline_outcome(plain, 5).calls + more, 1e-12);
    const Outcome behind = background_outcome(c, folder, work, 5, true);
    EXPECT_NEAR(behind.behind, background_outcome(plain, folder, work, 5, true).behind + 4 - less,
                1e-12);
    // Eight writers share the four cores of a node.
    work.writers = 16;
    EXPECT_NEAR(cost().compress, 8, 1e-12);
}

TEST_F(Model, EachServerHandsOverABlockAtATime) {
    // If the number of servers is unknown, blocks pass one after another for each writer.
    EXPECT_NEAR(cost().lock, 10 * 0.002, 1e-12);
    folder.locks = 4;
    EXPECT_EQ(cost().lock, 0);  // no block is shared by nodes
    // Eighteen blocks on four servers: one server has five of them, and passes each to two more
    // nodes.
    work.blocks = work.shared = 18;
    work.handovers = 2;
    work.requests = 1;
    EXPECT_NEAR(cost().lock, 5 * 2 * 0.002, 1e-12);
    // If only some blocks are shared, one server has more of them than others by chance.
    work.shared = 9;
    const double most = 2.5 + std::sqrt(2 * 5 * 0.5 * 0.5 * std::log(4));
    EXPECT_NEAR(cost().lock, most * 2 * 0.002, 1e-12);
    work.shared = 17;
    EXPECT_NEAR(cost().lock, 5 * 2 * 0.002, 1e-12);  // no server has more than five blocks
    folder.locks = 1;
    EXPECT_NEAR(cost().lock, 17 * 2 * 0.002, 1e-12);
}

TEST_F(Model, AllWritersMeetInTheBlocksOfEachPiece) {
    folder.locks = 4;
    work.blocks = work.shared = 32;
    work.handovers = 2;
    work.requests = 1;
    EXPECT_NEAR(cost().lock, 8 * 2 * 0.002, 1e-12);  // blocks pass on four servers at the same time
    work.requests = 8;
    EXPECT_NEAR(cost().lock, 8 * 2 * 0.002, 1e-12);
    work.requests = 16;  // each piece has two blocks, which the writers get in turn
    EXPECT_NEAR(cost().lock, 16 * 2 * 0.002, 1e-12);
}

TEST_F(Model, DisksStandStillWhereAllWaitForTheSameBlocks) {
    work.writer_bytes = 1e6;  // now the disk is the slowest stage
    work.unpacked = work.messages = work.calls = 0;
    work.received = work.sent = 0;
    work.locked = 0;
    const double none = inline_outcome(cost(), 0).calls;
    folder.locks = 1;
    work.blocks = work.shared = 100;
    work.handovers = 1;
    work.requests = 1;
    const double lock = cost().lock, disk = cost().disk;
    EXPECT_NEAR(lock, 0.2, 1e-12);
    EXPECT_NEAR(disk, 0.4, 1e-12);
    work.waiting = 0.5;
    EXPECT_NEAR(inline_outcome(cost(), 0).calls, none + 0.5 * lock, 1e-12);
    // With several rounds, the disk writes one round while writers wait for the blocks of the next.
    work.requests = 4;
    EXPECT_NEAR(inline_outcome(cost(), 0).calls, none + 0.5 * lock / 4, 1e-12);
    folder.lock = 0.01;
    EXPECT_NEAR(cost().idle, 0.5 * (1 - disk * 3 / 4), 1e-12);
}

TEST_F(Model, TheServerWithMostBlocksIsWaitedFor) {
    work.writers = 64;
    folder.writers = {1, 64};
    // 64 writers are only 4 times as fast as one, so the servers limit the rate to 4e9.
    folder.rate = {1e9, 4e9};
    folder.locks = 4;
    work.blocks = 8;
    EXPECT_NEAR(cost().disk, 0.2, 1e-12);
    work.blocks = 9;  // one of the servers has three blocks, and a quarter of the rate
    EXPECT_NEAR(cost().disk, 3 * (8e8 / 9) / 1e9, 1e-12);
    // If writers or nodes limit the rate, the limit of the servers is unknown.
    machine.nodes = 2;
    folder.node_rate = 2e9;
    EXPECT_NEAR(cost().disk, 0.2, 1e-12);
    folder.node_rate = 4e9;
    EXPECT_NEAR(cost().disk, 3 * (8e8 / 9) / 1e9, 1e-12);
    folder.rate = {1e8, 6.4e9};
    EXPECT_NEAR(cost().disk, 8e8 / 6.4e9, 1e-12);
}

TEST_F(Model, OneAnswerOfTheServersIsWaitedFor) {
    const Cost without = cost();
    work.requests = 4;
    folder.request = 0.01;
    EXPECT_NEAR(cost().write, without.write, 1e-12);
    EXPECT_NEAR(cost().metadata, without.metadata + 0.01, 1e-12);
}

TEST_F(Model, WritersOfANodeWaitForEachOtherToLeaveIt) {
    work.writers = 4;  // two on each node
    work.writer_bytes = 2e8;
    work.locked = 0;
    EXPECT_EQ(cost().leave, 0);  // the rate out of a node is unknown
    folder.node_rate = 1e12;
    const Cost c = cost();
    EXPECT_NEAR(c.write, 0.2 + 0.2, 1e-12);
    EXPECT_NEAR(c.leave, 2e8 / 2e9, 1e-12);  // the writer waits for the bytes of the node's other
                                             // writer
    EXPECT_NEAR(c.first, 1e6 * (1e-9 + 0.5e-9), 1e-12);
    const double without = inline_outcome(c, 0).calls;
    // Waiting for 25 blocks adds no time: it takes less than the wait for the other writer's bytes,
    // and happens at the same time.
    work.locked = 25;
    EXPECT_NEAR(inline_outcome(cost(), 0).calls, without, 1e-12);
    work.locked = 100;
    EXPECT_NEAR(inline_outcome(cost(), 0).calls, without + 0.1, 1e-12);
}

TEST_F(Model, TheRanksWaitForTheOneThatPacksMost) {
    const Cost even = cost();
    work.packed = 3e8;
    EXPECT_NEAR(cost().pack, 3 * even.pack, 1e-12);
    // One of four ranks writes. With a probability of a quarter it is the rank that packs most.
    EXPECT_NEAR(cost().own, 0.1 + 0.25 * 0.2, 1e-12);
    work.writers = 8;
    EXPECT_NEAR(cost().own, 0.3, 1e-12);
}

TEST_F(Model, SmallPacketsGoByNodes) {
    work.writers = 8;
    work.nodes = 4;
    work.ranks = 64;
    work.met = 3;
    work.sent = work.received = 1e6;
    work.bytes = 4e6 * 4 / 3;  // data are distributed evenly
    machine.inside = 1e9;
    // Each rank has 6 packets. They are copied into the message of its node, and out of those of
    // other nodes.
    EXPECT_NEAR(cost().exchange, 1e6 / 16 / 1e9 + 1e6 / 2e9 + 2 * 1e6 / 1e9 + 16 * 1e-3, 1e-12);
    work.sent = work.received = 1e9;
    work.bytes *= 1000;
    EXPECT_NEAR(cost().exchange, 1e9 / 16 / 1e9 + 1e9 / 2e9 + 3 * 16 * 1e-3, 1e-12);
    work.nodes = 1;
    EXPECT_EQ(cost().exchange, 0);
}

TEST_F(Model, WhatTheQueueHasNoRoomForIsWaitedFor) {
    const Outcome roomy = background_outcome(cost(), folder, work, 5, true);
    work.room = 0.75;
    const Outcome tight = background_outcome(cost(), folder, work, 5, true);
    EXPECT_NEAR(tight.calls, std::max(roomy.calls, 0.25 * 1.02), 1e-12);
    EXPECT_NEAR(tight.behind, roomy.behind - 0.25 * 1.02, 1e-12);
    // One of two writers has its data in the queue first.
    work.crowd = 2;
    EXPECT_NEAR(background_outcome(cost(), folder, work, 5, true).calls, 0.25 * 2.04, 1e-12);
}

TEST_F(Model, RunsOfListsTakeTime) {
    const Cost boxes = cost();
    machine.run = 1e-6;
    work.runs = 1e5;
    EXPECT_NEAR(cost().pack, boxes.pack + 0.1, 1e-12);
    EXPECT_NEAR(cost().own, boxes.own + 0.1, 1e-12);
    // A writer's share has four times as many runs as a rank's; half of its data come from other
    // nodes.
    EXPECT_NEAR(cost().compose, boxes.compose + 0.4, 1e-12);
    EXPECT_NEAR(cost().unpack, boxes.unpack + 0.2, 1e-12);
}

TEST_F(Model, Reading) {
    // Reading is the exchange in reverse: both agreements, 0.2 s of messages, the reads, and
    // unpacking.
    EXPECT_NEAR(read_seconds(machine, folder, work), 0.006 + 0.2 + 0.6 + 0.1, 1e-12);
    work.exchanged = false;
    EXPECT_NEAR(read_seconds(machine, folder, work), 0.006 + 0.6, 1e-12);
}

TEST_F(Model, AThreadWithoutACoreSlowsTheModel) {
    const Outcome o = background_outcome(cost(), folder, work, 5, false);
    EXPECT_NEAR(o.slower, 0.4 + 0.5 * 0.62, 1e-12);
    EXPECT_NEAR(o.period, 5 + o.calls + o.slower, 1e-12);
}

TEST_F(Model, WhatCannotBeHiddenIsWaitedFor) {
    const Outcome o = background_outcome(cost(), folder, work, 0.5, true);
    EXPECT_NEAR(o.period, o.behind, 1e-12);
    EXPECT_LT(o.hidden, 1);
    EXPECT_GT(o.hidden, 0);
}

TEST_F(Model, ServersTakeRanksOrCores) {
    work.ranks = 6;
    const Outcome taken = servers_outcome(machine, cost(), work, 3, false);
    EXPECT_NEAR(taken.slower, 1, 1e-12);  // six ranks do the computing of eight
    const Outcome extra = servers_outcome(machine, cost(), work, 3, true);
    EXPECT_EQ(extra.slower, 0);
    EXPECT_NEAR(taken.period, extra.period + 1, 1e-12);
    // With one server, the other node's ranks send their data themselves.
    work.writers = work.writer_nodes = 1;
    EXPECT_GT(servers_outcome(machine, cost(), work, 3, true).calls, extra.calls);
}

TEST_F(Model, MoreBytesTakeLonger) {
    double before = 0;
    for (const double factor : {0.0, 0.5, 1.0, 2.0, 8.0, 1000.0}) {
        Work more = work;
        for (double Work::*bytes : {&Work::bytes, &Work::rank_bytes, &Work::writer_bytes,
                                    &Work::received, &Work::sent, &Work::calls})
            more.*bytes = work.*bytes * factor;
        const Cost c = cost_of(machine, folder, more);
        const double now = inline_outcome(c, 1).period;
        EXPECT_GT(now, before);
        before = now;
    }
}

TEST_F(Model, MoreWritersAreNoSlowerOnAFileSystemThatTakesThem) {
    const Folder lustre = assumed_folder(file_system_of(0x0BD00BD0, 4096));
    double before = 1e300;
    work.nodes = 64;
    work.ranks = 1024;
    work.bytes = 1e11;
    for (int writers = 1; writers <= 64; writers *= 2) {
        work.writers = work.writer_nodes = writers;
        work.writer_bytes = work.bytes / writers;
        work.calls = work.writer_bytes / (2 << 20);
        const double now = cost_of(machine, lustre, work).write;
        EXPECT_LE(now, before);
        before = now;
    }
}

TEST_F(Model, Limits) {
    work = {};  // one rank, no data
    const Cost none = cost();
    EXPECT_EQ(none.write, 0);
    EXPECT_EQ(none.message, 0);
    EXPECT_TRUE(std::isfinite(inline_outcome(none, 0).period));
    EXPECT_EQ(background_outcome(none, folder, work, 0, true).slower, 0);
    // If one writer has all bytes, it takes as long as a single writer, however many there are.
    work.bytes = work.writer_bytes = 1e9;
    work.writers = 4;
    EXPECT_NEAR(cost().write, 1, 1e-12);
    work.durable = true;
    EXPECT_NEAR(cost().write, 10, 1e-12);
    work.durable = false;
    folder.node_rate = 5e8;
    EXPECT_NEAR(cost().write, 2, 1e-12);
}

TEST_F(Model, Memory) {
    const Limits limits;
    EXPECT_NEAR(inline_memory(work, limits).rank, limits.buffer + 1e8, 1);
    work.copied = false;
    EXPECT_NEAR(inline_memory(work, limits).rank, limits.buffer, 1);
    EXPECT_NEAR(queued_memory(work, limits, 1).rank, 2e8, 1);
    work.rank_bytes = 1e10;
    EXPECT_NEAR(queued_memory(work, limits, 1).rank, limits.staging, 1);
    EXPECT_GE(queued_memory(work, limits, 1).node, 4 * limits.staging);
}
