// SPDX-License-Identifier: Apache-2.0
#include "telemetry/watchdog.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

using namespace thalweg::detail;

namespace {

void pause(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

/// Returns what the watchdog prints while a function runs.
template <class F>
std::string printed(F&& f) {
    testing::internal::CaptureStderr();
    f();
    return testing::internal::GetCapturedStderr();
}

TEST(Watchdog, IsNoneWithoutSeconds) {
    EXPECT_EQ(Watchdog::make(0, 0, 3), nullptr);
    EXPECT_EQ(printed([] {
                  const WatchedCall standing(nullptr, "tw_put", "history.nc", 1);
                  pause(1.2);
              }),
              "");
}

TEST(Watchdog, PrintsAgainAndAgainWhatIsWaitedFor) {
    const auto watchdog = Watchdog::make(1, 0, 3);
    EXPECT_EQ(printed([&] {
                  const WatchedCall standing(watchdog.get(), "tw_end_step", "history.nc", 12);
                  const Waiting waiting("the outermost");
                  const Waiting inner("the inner");
                  pause(2.5);
              }),
              "thalweg: rank 3 has been in tw_end_step of history.nc, step 12, for 1 s: waiting "
              "for the outermost\n"
              "thalweg: rank 3 has been in tw_end_step of history.nc, step 12, for 2 s: waiting "
              "for the outermost\n");
}

TEST(Watchdog, LeavesOutWhatIsNotKnown) {
    const auto watchdog = Watchdog::make(1, 0, 0);
    EXPECT_EQ(printed([&] {
                  const WatchedCall standing(watchdog.get(), "tw_init");
                  { const Waiting over("what is over"); }
                  pause(1.5);
              }),
              "thalweg: rank 0 has been in tw_init for 1 s\n");
}

TEST(Watchdog, IsSilentBetweenCallsThatReturn) {
    const auto watchdog = Watchdog::make(1, 0, 0);
    EXPECT_EQ(printed([&] {
                  for (int i = 0; i < 3; ++i) {
                      const WatchedCall standing(watchdog.get(), "tw_put");
                      pause(0.6);
                  }
                  pause(1.2);
              }),
              "");
}

TEST(WatchdogDeathTest, EndsAProcessWhoseCallTakesTooLong) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(
        {
            const auto watchdog = Watchdog::make(0, 1, 3);
            const WatchedCall standing(watchdog.get(), "tw_end_step", "history.nc", 12);
            pause(5);
        },
        "rank 3 has been in tw_end_step of history.nc");
}

/// Sessions begin and end, and several threads use them.
TEST(Watchdog, WatchesSeveralSessionsAndThreads) {
    auto first = Watchdog::make(1, 0, 0);
    const auto second = Watchdog::make(2, 0, 5);
    const std::string text = printed([&] {
        std::thread other([&] {
            const WatchedCall standing(second.get(), "tw_sync", "b.nc");
            const Waiting waiting("the other thread");
            pause(2.5);
        });
        {
            const WatchedCall standing(first.get(), "tw_close", "a.nc");
            for (int i = 0; i < 150; ++i) {
                const Waiting waiting("the first");
                pause(0.01);
            }
        }
        first.reset();
        other.join();
    });
    EXPECT_NE(text.find("rank 0 has been in tw_close of a.nc for 1 s"), std::string::npos) << text;
    EXPECT_NE(text.find("rank 5 has been in tw_sync of b.nc for 2 s: waiting for the other thread"),
              std::string::npos)
        << text;
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2) << text;
}

}  // namespace
