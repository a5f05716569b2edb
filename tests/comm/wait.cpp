// SPDX-License-Identifier: Apache-2.0
#include "comm/wait.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/clock.hpp"
#include "base/words.hpp"
#include "comm/comm.hpp"

using namespace thalweg::detail;

namespace {

TEST(Wait, ReturnsAtOnceIfTheWordHasChanged) {
    Futex word{5};
    wait_while(word, 4, nullptr);
}

TEST(Wait, SleepsUntilTheWordChanges) {
    Futex word{0};
    std::atomic<bool> returned{false};
    std::thread sleeper([&] {
        wait_while(word, 0, nullptr);
        returned = true;
    });
    sleep_seconds(0.02);
    EXPECT_FALSE(returned);
    wake_all(word);  // wakes the sleepers, but the word has not changed
    sleep_seconds(0.02);
    EXPECT_FALSE(returned);
    word = 1;
    wake_all(word);
    sleeper.join();
    EXPECT_TRUE(returned);
}

TEST(Wait, NoWakeIsLost) {
    Futex ping{0}, pong{0};
    constexpr std::uint32_t rounds = 2000;
    std::thread other([&] {
        for (std::uint32_t i = 0; i < rounds; ++i) {
            wait_while(ping, i, nullptr);
            pong = i + 1;
            wake_all(pong);
        }
    });
    for (std::uint32_t i = 0; i < rounds; ++i) {
        ping = i + 1;
        wake_all(ping);
        wait_while(pong, i, nullptr);
    }
    other.join();
    EXPECT_EQ(pong, rounds);
}

TEST(Wait, LooksBeforeItSleeps) {
    Futex word{0};
    std::thread other([&] {
        sleep_seconds(0.005);
        word = 1;  // change the word without waking the sleeper
    });
    const double begin = now();
    wait_while(word, 0, nullptr, 10);
    EXPECT_LT(now() - begin, 5);
    other.join();
}

TEST(Words, ThereAndBack) {
    const std::vector<std::int64_t> words{1, -2, INT64_MAX, INT64_MIN};
    EXPECT_EQ(to_bytes(words).size(), 32U);
    EXPECT_EQ(to_words(to_bytes(words)), words);
    EXPECT_TRUE(to_words(to_bytes({})).empty());
}

TEST(SerialComm, IsOneRank) {
    const auto comm = make_serial_comm();
    EXPECT_EQ(comm->rank(), 0);
    EXPECT_EQ(comm->size(), 1);
    std::int64_t value = 7;
    comm->all_reduce({&value, 1}, Reduce::sum);
    EXPECT_EQ(value, 7);
    bool have = true;
    const auto received = comm->exchange({{0, {'a', 'b'}}}, have);
    EXPECT_TRUE(have);
    ASSERT_EQ(received.size(), 1U);
    EXPECT_EQ(received[0].bytes, (std::vector<char>{'a', 'b'}));
    const auto memory = comm->share(1000);
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(memory->size(), 1000U);
    memory->data()[999] = 'x';
    EXPECT_EQ(comm->split(-1, 0), nullptr);
    EXPECT_EQ(comm->split(0, 0)->size(), 1);
    const Status status = agree(*comm, failure(TW_EARG, "what"));
    EXPECT_EQ(status.code, TW_EARG);
    EXPECT_EQ(status.text, "what");
}

}  // namespace
