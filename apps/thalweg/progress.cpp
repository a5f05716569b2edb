// SPDX-License-Identifier: Apache-2.0
#include "progress.hpp"

#include <fmt/core.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "terminal.hpp"

namespace thalweg::app {

namespace {

constexpr int width = 30;
constexpr double seconds = 0.1;  ///< seconds between two updates of the line

}  // namespace

Progress::Progress(std::int64_t total, int rank)
    : shown_(rank == 0 && on_terminal(STDERR_FILENO)), total_(std::max<std::int64_t>(total, 1)) {}

Progress::~Progress() {
    if (shown_) std::fputs("\r\033[K", stderr);
}

void Progress::add(std::int64_t done, const std::string& what) {
    done_ = std::min(done_ + done, total_);
    if (!shown_ || MPI_Wtime() < next_) return;
    next_ = MPI_Wtime() + seconds;
    const double part = static_cast<double>(done_) / static_cast<double>(total_);
    const auto full = static_cast<std::size_t>(part * width);
    fmt::print(stderr, "\r\033[K[{:<{}}] {:3.0f} % {}", std::string(full, '='), width, part * 100,
               what);
    std::fflush(stderr);
}

}  // namespace thalweg::app
