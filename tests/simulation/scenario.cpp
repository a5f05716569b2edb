// SPDX-License-Identifier: Apache-2.0
#include <cerrno>

#include "simulation/disk.hpp"
#include "simulation/run.hpp"
#include "system/random.hpp"

namespace simulation {

namespace {

/// Chooses what fails: the disk, a rank, or nothing.
void choose_fault(Scenario& s, Random& random) {
    const std::string kind = random.pick<std::string>(
        {"none", "fails", "fails once", "full", "slow", "very slow", "dies", "dies", "stops"});
    s.fault = kind;
    if (kind == "fails" || kind == "fails once") {
        disk.error = EIO;
        disk.fails_at = random.below(60);
        disk.fails_until = disk.fails_at + (kind == "fails" ? 1000000 : 1);
    }
    if (kind == "full") disk.capacity = random.below(random.pick<std::int64_t>({1000, 20000}));
    if (kind == "slow") disk.rate = 1e6;
    if (kind == "very slow") {
        disk.slow_from = random.below(40);
        disk.slow_until = disk.slow_from + random.between(1, 10);
        disk.slow_seconds = random.pick<double>({0.003, 0.03});
    }
    if (kind == "dies" || kind == "stops") {
        s.victim = static_cast<int>(random.below(s.all()));
        s.dies_at = random.below(random.pick<std::int64_t>({500, 3000, 12000}));
        // The launcher ends the others at once, or after a while.
        s.ends_at = s.dies_at + random.below(kind == "stops" ? 1000000 : 300);
    }
}

}  // namespace

Scenario::Scenario(std::uint64_t its_seed) : seed(its_seed) {
    Random random(mix(seed, 77));
    disk = {};
    ranks = random.pick<int>({1, 2, 3, 4, 5});
    const std::string service = random.pick<std::string>({"inline", "background", "servers"});
    inline_service = service == "inline";
    session = "log=off; node_size=" + std::to_string(random.pick<int>({0, 0, 1, 2}));
    if (service == "servers") {
        servers = random.pick<int>({1, 1, 2, 3});
        session += "; servers=" + std::to_string(servers);
        if (random.percent(50)) session += ":last";
    }
    file = "service=" + service;
    const bool netcdf4 = random.percent(35);
    if (netcdf4) file += "; format=netcdf4";
    if (netcdf4 && random.percent(60)) file += "; deflate=1; chunks=y=2";
    if (!netcdf4) file += "; format=" + random.pick<std::string>({"cdf1", "cdf2", "cdf5"});
    const std::vector<std::string> methods =
        netcdf4 ? std::vector<std::string>{"serial", "record"}
                : std::vector<std::string>{"serial", "record", "slabs", "direct"};
    if (servers == 0)
        file += "; method=" + random.pick<std::string>(
                                  inline_service ? methods : std::vector<std::string>{"record"});
    if (random.percent(40)) file += "; durable=yes";
    checksums = random.percent(40);
    if (checksums) file += "; checksums=yes";
    if (random.percent(25)) file += "; publish=live";
    if (!inline_service && random.percent(50)) file += "; queue=64KiB; staging=64KiB";
    ny = static_cast<int>(random.between(1, 12));
    nx = random.pick<int>({1, 7, 64, 500});
    steps = static_cast<int>(random.between(1, 6));
    appended = random.percent(40) ? static_cast<int>(random.between(1, 3)) : 0;
    reads = random.percent(60);
    disk.seconds = random.pick<double>({1e-5, 1e-4});
    disk.rate = random.pick<double>({1e7, 1e9});
    choose_fault(*this, random);
}

std::string Scenario::describe() const {
    return std::to_string(ranks) + " ranks, " + std::to_string(servers) + " servers, " + session +
           "; " + file + ", " + std::to_string(steps) + "+" + std::to_string(appended) +
           " steps of " + std::to_string(ny) + "x" + std::to_string(nx) + ", fault: " + fault +
           (victim < 0
                ? ""
                : " (rank " + std::to_string(victim) + " at step " + std::to_string(dies_at) + ")");
}

int value_of(std::int64_t record, std::int64_t element) {
    return static_cast<int>(100000 * (record + 1) + element);
}

}  // namespace simulation
