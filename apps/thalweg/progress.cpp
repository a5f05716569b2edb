// SPDX-License-Identifier: Apache-2.0
#include "progress.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "base/clock.hpp"
#include "base/system/thread.hpp"
#include "terminal.hpp"

namespace thalweg::app {

namespace {

constexpr int width = 30;
constexpr double seconds = 0.1;  ///< seconds between two updates of the line

bool is_shown(int rank) { return rank == 0 && on_terminal(STDERR_FILENO); }

void remove_line() { std::fputs("\r\033[K", stderr); }

}  // namespace

Progress::Progress(std::int64_t total, int rank)
    : shown_(is_shown(rank)), total_(std::max<std::int64_t>(total, 1)) {}

Progress::~Progress() {
    if (shown_) remove_line();
}

void Progress::add(std::int64_t done, const std::string& what) {
    done_ = std::min(done_ + done, total_);
    if (!shown_ || detail::now() < next_) return;
    next_ = detail::now() + seconds;
    const double part = static_cast<double>(done_) / static_cast<double>(total_);
    const auto full = static_cast<std::size_t>(part * width);
    fmt::print(stderr, "\r\033[K[{:<{}}] {:3.0f} % {}", std::string(full, '='), width, part * 100,
               what);
    std::fflush(stderr);
}

Busy::Busy(std::string what, int rank) {
    // Ignore a failure: without the thread, the command works, but shows no line.
    if (is_shown(rank))
        (void)detail::start_thread(
            thread_, [this, what = std::move(what)] { show_seconds(what); }, "shows the progress");
}

Busy::~Busy() {
    if (!thread_.joinable()) return;
    {
        const std::lock_guard lock(mutex_);
        end_ = true;
    }
    ended_.notify_one();
    thread_.join();
    remove_line();
}

void Busy::show_seconds(const std::string& what) {
    const double begin = detail::now();
    std::unique_lock lock(mutex_);
    do {
        fmt::print(stderr, "\r\033[K{}: {:.0f} s", what, detail::now() - begin);
        std::fflush(stderr);
    } while (!ended_.wait_for(lock, std::chrono::seconds(1), [&] { return end_; }));
}

}  // namespace thalweg::app
