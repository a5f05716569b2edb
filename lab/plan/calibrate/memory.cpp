// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstring>
#include <new>

#include "base/clock.hpp"
#include "exchange/pack/copy.hpp"
#include "plan/calibrate/calibrate.hpp"

namespace thalweg::planning {

using namespace detail;

namespace {

/// A field of a model, with floats in the order (y, z, x) in ordinary memory, and a shared slot for
/// it in the order (z, y, x), as in the library's exchange.
class Field {
public:
    Field() : from_(make_private_memory(bytes)), to_(make_private_memory(piece)) {
        if (!from_ || !to_) throw std::bad_alloc();
        // Write to the memory first: if it were only read, all pages could be the same page of
        // zeros.
        std::memset(from_->data(), 1, bytes);
        std::memset(to_->data(), 1, piece);
    }
    /// Reorders and converts the whole field, piece by piece.
    void pack_all() {
        const RowKernel kernel = pack_kernel(TW_FLOAT, TW_FLOAT, Order::big_endian);
        Index count{}, to{}, from{};
        count = {nz, ny, nx};
        to = {ny * nx * 4, nx * 4, 4};
        from = {nx * 4, nz * nx * 4, 4};
        for (std::size_t at = 0; at < bytes; at += piece)
            copy_box(3, count, to_->data(), to, from_->data() + at, from, kernel, fill.data());
    }
    static constexpr std::size_t bytes = std::size_t(64) << 20;  ///< more than fits in caches

private:
    static constexpr std::int64_t nz = 16, ny = 64, nx = 256;
    static constexpr std::size_t piece = nz * ny * nx * 4;
    static constexpr std::array<char, 4> fill{};
    std::unique_ptr<Memory> from_, to_;
};

}  // namespace

double repeat_for(double seconds, const std::function<void()>& act) {
    const double begin = now();
    double passed = 0;
    std::int64_t calls = 0;
    do {
        act();
        ++calls;
        passed = now() - begin;
    } while (passed < seconds);
    return passed / static_cast<double>(calls);
}

void sleep_until_met(Team& team, double seconds) {
    sleep_seconds(seconds);
    team.barrier();
}

double all_max(Team& team, double value) {
    auto nano = static_cast<std::int64_t>(std::min(value * 1e9, 9e18));
    team.all_reduce({&nano, 1}, Reduce::max);
    return static_cast<double>(nano) * 1e-9;
}

double all_sum(Team& team, double value) {
    auto whole = static_cast<std::int64_t>(std::min(value, 9e15));
    team.all_reduce({&whole, 1}, Reduce::sum);
    return static_cast<double>(whole);
}

void measure_memory(Team& team, double seconds, Machine& machine) {
    std::unique_ptr<Field> field;
    const Status had = team.agree(catch_errors([&]() -> Status {
        field = std::make_unique<Field>();
        return {};
    }));
    if (!had.ok()) throw std::bad_alloc();
    const auto rate = [&](double part) {
        return static_cast<double>(Field::bytes) /
               repeat_for(seconds * part, [&] { field->pack_all(); });
    };
    double alone_rate = 0;
    team.barrier();
    if (team.rank() == 0) {
        alone_rate = rate(0.4);
        team.barrier();
    } else {
        sleep_until_met(team, seconds * 0.4);
    }
    machine.pack = all_sum(team, alone_rate);
    machine.pack_node = all_sum(team, rate(0.4)) / team.topology().nodes;
    const double agreement = repeat_for(0, [&] {
        for (int i = 0; i < 50; ++i) team.barrier();
    });
    machine.agree = std::max(1e-7, all_max(team, agreement) / 50);
}

}  // namespace thalweg::planning
