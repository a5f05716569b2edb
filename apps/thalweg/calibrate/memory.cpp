// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstring>
#include <new>

#include "calibrate/calibrate.hpp"
#include "comm/clock.hpp"
#include "exchange/copy.hpp"

namespace thalweg::app {

using namespace detail;

namespace {

constexpr int tag = 11;

/// A model's field of (y, z, x) floats in ordinary memory, and a slot for (z, y, x), as the
/// exchange has them.
class Field {
public:
    Field() : from_(make_private_memory(bytes)), to_(make_private_memory(piece)) {
        if (!from_ || !to_) throw std::bad_alloc();
        // Memory that was only read may be one page of zeros.
        std::memset(from_->data(), 1, bytes);
        std::memset(to_->data(), 1, piece);
    }
    /// Reorders and converts all of the field, piece by piece.
    void pack_all() {
        const RowKernel kernel = pack_kernel(TW_FLOAT, TW_FLOAT, Order::big_endian);
        Index count{}, to{}, from{};
        count = {nz, ny, nx};
        to = {ny * nx * 4, nx * 4, 4};
        from = {nx * 4, nz * nx * 4, 4};
        for (std::size_t at = 0; at < bytes; at += piece)
            copy_box(3, count, to_->data(), to, from_->data() + at, from, kernel, fill.data());
    }
    static constexpr std::size_t bytes = std::size_t(64) << 20;  ///< more than caches hold

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
    const Status had = team.agree(alone([&]() -> Status {
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

// ---- messages -----------------------------------------------------------------------------------

namespace {

void send(Comm& comm, const std::vector<char>& data, std::size_t bytes, int to) {
    std::vector<MPI_Request> request{comm.start_send(data.data(), bytes, to, tag)};
    comm.finish(request);
}

/// Seconds of a message of some bytes and the empty answer. @param first  whether this rank sends
double exchange_seconds(Comm& comm, std::vector<char>& data, std::size_t bytes, int other,
                        bool first, int times) {
    const double begin = now();
    for (int i = 0; i < times; ++i) {
        if (first) send(comm, data, bytes, other);
        comm.receive(data.data(), data.size(), other, tag);
        if (!first) send(comm, data, 0, other);
    }
    return (now() - begin) / times;
}

}  // namespace

/// The leaders of nodes 0 and 1, 2 and 3, ... all at once; on one node, ranks 0 and 1.
void measure_messages(Team& team, double seconds, Machine& machine) {
    machine.latency = machine.message = 0;  // not known
    if (team.size() < 2) return;
    const Topology& t = team.topology();
    int other = -1;
    bool first = false;
    if (t.nodes == 1) {
        first = team.rank() == 0;
        other = team.rank() < 2 ? 1 - team.rank() : -1;
    } else if (t.node_rank == 0 && (t.node ^ 1) < t.nodes) {
        first = t.node % 2 == 0;
        other = t.rank_of(t.node ^ 1, 0);
    }
    constexpr std::size_t large = std::size_t(4) << 20;
    std::vector<char> data(other < 0 ? 0 : large, 1);
    Comm& comm = team.world();
    double latency = 0, time = 0;
    // The first ones set up connections and touch memory.
    for (const bool counts : {false, true}) {
        team.barrier();
        const double begin = now();
        if (other >= 0) {
            latency = exchange_seconds(comm, data, 0, other, first, counts ? 200 : 20) / 2;
            time = exchange_seconds(comm, data, large, other, first, counts ? 20 : 4);
        } else {
            sleep_seconds(counts ? seconds * 0.2 : 0);
        }
        team.barrier();
        if (now() - begin > seconds) break;
    }
    machine.latency = all_max(team, latency);
    const double slowest = all_max(team, time);
    machine.message = static_cast<double>(large) / std::max(1e-9, slowest - machine.latency);
}

}  // namespace thalweg::app
