// SPDX-License-Identifier: Apache-2.0
#include "service/queue/rank/unit_queue.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <thread>

#include "base/clock.hpp"
#include "service/setup.hpp"

using namespace thalweg::detail;

namespace {

struct Queue {
    std::unique_ptr<Comm> comm = make_serial_comm();
    Futex doorbell{0};
    UnitQueue unit_queue;
    Queue(std::int64_t bytes, int writers, bool grows = false)
        : unit_queue(memory(bytes, grows), writers, doorbell, *comm, grows) {}
    static std::unique_ptr<Segment> memory(std::int64_t bytes, bool grows) {
        Status status;
        auto m = QueueMemory::make(bytes, {}, status, grows);
        EXPECT_TRUE(status.ok()) << status.text;
        return m;
    }
    void done(int local_writer, std::int64_t units) {
        Futex& word = unit_queue.region().done[local_writer];
        word.store(static_cast<std::uint32_t>(units));
        wake_all(word);
    }
};

UnitPart boxes_unit_part() {
    UnitPart p;
    p.head.kind = UnitKind::boxes;
    return p;
}

// Returns a scalar variable of bytes; entries for it can have data of any length.
std::vector<Variable> one_variable() {
    Variable v;
    v.name = "v";
    v.shape = {1 << 20};
    return {v};
}

}  // namespace

TEST(UnitQueue, TakesNoMoreThanThereIs) {
    Queue q(4096, 1);
    EXPECT_EQ(q.unit_queue.memory().capacity(), 4096);
    EXPECT_EQ(q.unit_queue.take(4097), nullptr);
    EXPECT_NE(q.unit_queue.take(4000), nullptr);
    EXPECT_EQ(q.unit_queue.take(100), nullptr);  // the unit that is not ended yet fills the queue
    EXPECT_EQ(q.unit_queue.figures().waits, 0);
    EXPECT_EQ(q.unit_queue.figures().most_bytes, 4032);
}

// After a box was put, there must be space for the descriptor of its unit, at the end or at the
// beginning of the ring.
TEST(UnitQueue, LeavesRoomForWhatComesAfter) {
    Queue q(4096, 1);
    EXPECT_NE(q.unit_queue.take(3500, 500), nullptr);
    EXPECT_EQ(q.unit_queue.take(100, 500), nullptr);
    EXPECT_NE(q.unit_queue.take(500), nullptr);

    Queue ring(4096, 1);
    ASSERT_NE(ring.unit_queue.take(1600), nullptr);
    UnitPart p = boxes_unit_part();
    ring.unit_queue.publish(p);
    ASSERT_NE(ring.unit_queue.take(1900), nullptr);
    ring.done(0, 1);
    EXPECT_EQ(ring.unit_queue.take(1500, 700), nullptr);
    EXPECT_NE(ring.unit_queue.take(1500), nullptr);
}

// The memory of one queue can be reused for another.
TEST(UnitQueue, UsesSpareMemory) {
    Status status;
    auto first = QueueMemory::make(8192, {}, status, true);
    ASSERT_TRUE(status.ok());
    Region::of(*first).published.store(5);
    Region::of(*first).fail(failure(TW_EIO, "before"));
    const char* const at = first->data();
    auto second = QueueMemory::make(4096, {}, status, true, std::move(first));
    EXPECT_EQ(second->data(), at);
    EXPECT_EQ(Region::of(*second).published.load(), 0U);
    EXPECT_TRUE(Region::of(*second).failure().ok());
    EXPECT_EQ(Region::of(*second).queue, 4096);
    auto third = QueueMemory::make(1 << 20, {}, status, true, std::move(second));
    EXPECT_GE(third->size(), std::size_t(1) << 20);
}

// A queue that grows allocates memory for its data, and reuses it later.
TEST(UnitQueue, GrowsWithWhatIsPut) {
    Queue q(64 << 20, 1, true);
    EXPECT_EQ(q.unit_queue.memory().capacity(), 64 << 20);
    EXPECT_EQ(q.unit_queue.memory().allocated(), 0);
    for (std::int64_t unit = 0; unit < 50; ++unit) {
        for (int i = 0; i < 3; ++i) {
            char* to = q.unit_queue.take(1 << 20);
            ASSERT_NE(to, nullptr);
            std::memset(to, 1, 1 << 20);
        }
        UnitPart p = boxes_unit_part();
        q.unit_queue.publish(p);
        // let the writer stay one unit behind
        q.done(0, unit);
    }
    EXPECT_GE(q.unit_queue.memory().allocated(), 6 << 20);
    EXPECT_LE(q.unit_queue.memory().allocated(), 14 << 20);
    EXPECT_LE(q.unit_queue.figures().most_bytes, q.unit_queue.memory().allocated());
    EXPECT_EQ(q.unit_queue.figures().waits, 0);
    EXPECT_FALSE(q.unit_queue.drained());
    q.done(0, 50);
    EXPECT_TRUE(q.unit_queue.drained());
}

// A slow writer reads each unit before it frees its memory, and must find the data that were put.
TEST(UnitQueue, ManyUnitsThroughASmallRing) {
    for (const int writers : {1, 3}) {
        Queue q(8192, writers);
        std::atomic<bool> wrong{false};
        constexpr std::int64_t units = 3000;
        const auto variables = one_variable();
        std::vector<std::thread> threads;
        for (int a = 0; a < writers; ++a)
            threads.emplace_back([&, a] {
                Region& region = q.unit_queue.region();
                for (std::int64_t n = 0; n < units; ++n) {
                    while (region.published.load(std::memory_order_acquire) <= n)
                        wait_briefly(region.published, static_cast<std::uint32_t>(n), nullptr);
                    const char* base = q.unit_queue.memory().base();
                    const auto at = region.unit_at[n % Region::max_units].load();
                    const UnitPart p = parse_unit_part(base + at, base, variables, {});
                    if (p.head.unit != n) wrong = true;
                    if (n % 97 == a) sleep_seconds(1e-3);
                    for (const auto& e : p.entries)
                        for (std::int64_t i = 0; i < e.held.box.count[0]; ++i)
                            if (e.data[i] != static_cast<char>(n * 7 + i)) wrong = true;
                    q.done(a, n + 1);
                }
            });
        Random random(3);
        for (std::int64_t n = 0; n < units; ++n) {
            UnitPart p = boxes_unit_part();
            for (std::int64_t k = random.below(4); k > 0; --k) {
                const std::int64_t bytes = random.between(1, 1500);
                char* to = q.unit_queue.take(bytes);
                ASSERT_NE(to, nullptr);
                EXPECT_LE(q.unit_queue.memory().position(to) + bytes,
                          q.unit_queue.memory().capacity());
                for (std::int64_t i = 0; i < bytes; ++i) to[i] = static_cast<char>(n * 7 + i);
                PackedValues e;
                Box box;
                box.nd = 1;
                box.count[0] = bytes;
                e.held.box = box;
                e.at = q.unit_queue.memory().position(to);
                p.entries.push_back(e);
            }
            q.unit_queue.publish(p);
        }
        q.unit_queue.drain();
        for (auto& t : threads) t.join();
        EXPECT_FALSE(wrong);
        EXPECT_EQ(q.unit_queue.published(), units);
        EXPECT_TRUE(q.unit_queue.region().failure().ok());
        EXPECT_LE(q.unit_queue.figures().most_bytes, q.unit_queue.memory().capacity());
        EXPECT_GT(q.unit_queue.figures().waits, 0);
        EXPECT_GT(q.unit_queue.figures().wait_seconds, 0);
    }
}

// Memory of a unit is not reused while messages that contain it are being sent.
TEST(UnitQueue, WaitsForMessages) {
    Queue q(4096, 0);
    std::int64_t used = 0, asked = 0;
    q.unit_queue.watch([&] { return ++asked > 20 ? ++used : 0; });
    for (int n = 0; n < 3; ++n) {
        ASSERT_NE(q.unit_queue.take(3500), nullptr);
        UnitPart p = boxes_unit_part();
        q.unit_queue.publish(p);
    }
    q.unit_queue.drain();
    EXPECT_GT(asked, 20);
    EXPECT_GE(used, 3);
}

TEST(UnitQueue, KeepsWhatStaysOpen) {
    Queue q(4096, 1);
    ASSERT_NE(q.unit_queue.take(500), nullptr);
    char* kept = q.unit_queue.take(500);
    const std::int64_t mark = q.unit_queue.memory().mark();
    std::iota(kept, kept + 500, 0);
    ASSERT_NE(q.unit_queue.take(500), nullptr);
    UnitPart p = boxes_unit_part();
    q.unit_queue.publish(p, mark);
    q.done(0, 1);
    q.unit_queue.drain();
    // All bytes before the kept ones are free, the kept ones are not.
    char* next = q.unit_queue.take(1500);
    ASSERT_NE(next, nullptr);
    std::memset(next, -1, 1500);
    EXPECT_EQ(q.unit_queue.take(2500), nullptr);
    for (int i = 0; i < 500; ++i) ASSERT_EQ(kept[i], static_cast<char>(i));
    q.unit_queue.memory().restart();
    EXPECT_EQ(q.unit_queue.memory().position(q.unit_queue.take(64)), 0);
}

// There is always space for descriptors, however small the units are.
TEST(UnitQueue, BoundsTheNumberOfUnits) {
    Queue q(1 << 20, 1);
    std::thread local_writer([&] {
        Region& region = q.unit_queue.region();
        for (std::int64_t n = 0; n < 2000; ++n) {
            while (region.published.load() <= n) sleep_seconds(1e-5);
            if (region.published.load() - n > Region::max_units) ADD_FAILURE() << n;
            q.done(0, n + 1);
        }
    });
    for (int n = 0; n < 2000; ++n) {
        UnitPart p = boxes_unit_part();
        q.unit_queue.publish(p);
    }
    q.unit_queue.drain();
    local_writer.join();
}

TEST(Region, KeepsTheFirstFailure) {
    Queue q(4096, 1);
    Region& region = q.unit_queue.region();
    EXPECT_TRUE(region.failure().ok());
    region.fail(failure(TW_EIO, "{}", std::string(10000, 'x')));
    region.fail(failure(TW_ENOMEM, "later"));
    EXPECT_EQ(region.failure().code, TW_EIO);
    const std::string kept = region.failure().text;
    EXPECT_EQ(kept, std::string(kept.size(), 'x'));
    EXPECT_GT(kept.size(), 9000);
    // A process that maps the memory must find the data there.
    Status status;
    const auto same = Segment::map(q.unit_queue.memory().name(), status);
    ASSERT_TRUE(status.ok());
    EXPECT_EQ(Region::of(*same).failure().code, TW_EIO);
}
