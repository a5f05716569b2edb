// SPDX-License-Identifier: Apache-2.0
#include "comm/wait.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/clock.hpp"

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

}  // namespace
