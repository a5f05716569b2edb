// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "plan/calibrate/calibrate.hpp"
#include "plan/calibrate/trial.hpp"
#include "storage/posix/file_system.hpp"

namespace thalweg::planning {

using namespace detail;

namespace {

constexpr std::int64_t tiny = 4 << 10, small = 64 << 10, large = 2 << 20;
constexpr std::int64_t odd = 60001;  ///< bytes of a write that does not end at the end of a block

/// Number of rounds. They are distributed over the whole time, because the speed of a machine
/// varies.
constexpr int passes = 3;

/// Returns 1, 2, 4, ... up to the number of all ranks, which is included.
std::vector<int> writer_counts(int ranks) {
    std::vector<int> counts;
    for (int n = 1; n < ranks; n *= 2) counts.push_back(n);
    counts.push_back(ranks);
    return counts;
}

/// The patterns of writing that are measured in a folder.
struct Patterns {
    /// Chooses the patterns.
    /// @param ranks    number of ranks on the first node
    /// @param servers  the file system has servers
    Patterns(const Team& team, int ranks, bool servers) {
        const int all = static_cast<int>(team.size());
        for (const bool durable : {false, true})
            for (const int n : writer_counts(all))
                (durable ? with_fsync : by_writers).push_back({n, large, durable});
        in_small.push_back({1, small});
        if (servers)
            for (const bool durable : {false, true}) {
                answer.push_back({1, tiny, durable});
                answer.back().most = tiny;
            }
        if (all == 1) return;
        for (const bool interleaved : {false, true}) two.push_back({2, odd, false, interleaved});
        if (team.topology().nodes == 1) return;
        node.push_back({ranks, large});
        node.back().first_ranks = true;
        for (const bool interleaved : {false, true})
            pairs.push_back({all / 2 * 2, odd, false, interleaved});
    }

    std::vector<Pattern> by_writers, with_fsync;
    std::vector<Pattern> in_small;
    std::vector<Pattern> answer;  ///< small writes, without and with an fsync
    /// Two writers: each with its own part of the file; and alternating.
    std::vector<Pattern> two, pairs;
    std::vector<Pattern> node;  ///< all ranks of a node

    std::vector<Pattern*> all() {
        std::vector<Pattern*> found;
        for (auto* some : {&by_writers, &with_fsync, &in_small, &answer, &two, &pairs, &node})
            for (Pattern& p : *some) found.push_back(&p);
        return found;
    }
};

/// Returns the seconds by which a write in the second pattern takes longer than one in the first.
double longer(const std::vector<Pattern>& two) {
    return std::max(0.0, two[1].seconds_of_write() - two[0].seconds_of_write());
}

/// Returns the seconds in which a block passes from one writer to another, if they alternate. For
/// each pair of writes it passes there and back.
double handover(const std::vector<Pattern>& two) { return longer(two) / 2; }

/// Sets the number of blocks that pass between nodes at the same time, and the rate of one node.
void take_nodes(const Patterns& patterns, Folder& folder) {
    if (patterns.node.empty()) return;
    folder.node_rate = patterns.node.front().rate();
    // If all pairs wait as long as one pair does, there are at least as many lock servers as pairs.
    const double of_all = handover(patterns.pairs), pairs = patterns.pairs.front().writers / 2;
    if (*folder.lock <= 0) return;  // no writer waits, so the number is unknown
    folder.locks = of_all > 0 ? std::clamp(pairs * *folder.lock / of_all, 1.0, pairs) : pairs;
}

}  // namespace

Status measure_folder(Team& team, const std::string& path, double seconds, Folder& folder) {
    const FileSystem system = file_system_at(path);
    folder.path = path;
    // If several nodes see a folder, it is not on a local disk, whatever its file system.
    bool servers = system.sharing != Sharing::local || team.topology().nodes > 1;
    team.world().broadcast(&servers, sizeof servers, 0);
    Trial trial(team, path);
    if (Status s = trial.find_room(); !s.ok()) return s;
    if (Status s = trial.warm_up(); !s.ok()) return s;
    if (Status s = trial.names(seconds / 40, folder); !s.ok()) return s;
    Patterns patterns(team, team.topology().sizes.front(), servers);
    const std::vector<Pattern*> all = patterns.all();
    const double each = seconds * 0.9 / static_cast<double>(passes * all.size());
    for (int pass = 0; pass < passes; ++pass)
        for (Pattern* const p : all) {
            if (Status s = trial.measure(*p, each); !s.ok()) return s;
            if (p == all.front()) folder.processor = std::min(1.0, trial.processor());
        }
    // Broadcast the rates, so that all ranks get the same figures.
    std::vector<double> rates;
    for (const Pattern* const p : all) rates.push_back(p->rate());
    rates.push_back(folder.processor);
    team.world().broadcast(rates.data(), rates.size() * sizeof(double), 0);
    for (std::size_t i = 0; i < all.size(); ++i) all[i]->rates = {rates[i]};
    folder.processor = rates.back();
    for (const Pattern& p : patterns.by_writers) {
        folder.writers.push_back(p.writers);
        folder.rate.push_back(p.rate());
    }
    for (const Pattern& p : patterns.with_fsync) folder.durable.push_back(p.rate());
    const auto bytes = static_cast<double>(small);
    folder.call =
        std::max(1e-7, bytes / patterns.in_small.front().rate() - bytes / folder.rate.front());
    if (!patterns.answer.empty()) folder.request = longer(patterns.answer);
    if (!patterns.two.empty()) folder.lock = handover(patterns.two);
    take_nodes(patterns, folder);
    return {};
}

}  // namespace thalweg::planning
