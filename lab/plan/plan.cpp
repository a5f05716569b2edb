// SPDX-License-Identifier: Apache-2.0
#include "plan/plan.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "layout/writers.hpp"

namespace thalweg::planning {

using namespace detail;

namespace {

/// Options whose times differ by less than this factor count as equally fast.
constexpr double alike = 1.005;

/// Another number of writers than the library's own is preferred only if its time is less than this
/// fraction of the library's: predictions are about as inaccurate.
constexpr double worthwhile = 0.95;

/// Fraction of a node's memory in which Linux keeps data that are not yet on a local disk
/// (vm.dirty_ratio).
constexpr double dirty_part = 0.2;

class Planner {
public:
    Planner(const Run& run, const Shares& shares) : run_(run), shares_(shares) {}

    Option in_calls(const Way& way) const {
        Option o = begin("inline", way);
        o.outcome = inline_outcome(o.cost, run_.compute());
        o.memory = inline_memory(o.work, run_.limits);
        return end(std::move(o));
    }

    Option background(Way way) const {
        way.queued = true;
        Option o = begin("background", way);
        const double on_node = std::ceil(1.0 * o.work.writers / o.work.writer_nodes);
        const bool free_core = run_.cores >= ranks_of_node() + on_node;
        o.outcome = background_outcome(o.cost, run_.folder, o.work, run_.compute(), free_core);
        o.memory = queued_memory(o.work, run_.limits, 1);
        return end(std::move(o));
    }

    Option servers(Way way) const {
        const double on_node = std::ceil(1.0 * way.servers / run_.nodes);
        const bool extra = run_.cores >= ranks_of_node() + on_node;
        way.queued = true;
        Option o = begin("servers", way);
        if (!extra) {
            o.work.ranks = run_.ranks - way.servers;
            o.work.rank_bytes *= 1.0 * run_.ranks / o.work.ranks;
            o.work.packed = o.work.rank_bytes;
            o.cost = cost_of(run_.machine, run_.folder, o.work);
        }
        o.outcome = servers_outcome(run_.machine, o.cost, o.work, run_.compute(), extra);
        // Up to three steps can wait at the servers; only two if some nodes have no server.
        o.memory = queued_memory(o.work, run_.limits, o.work.writer_nodes < run_.nodes ? 2 : 3);
        return end(std::move(o));
    }

    double ranks_of_node() const { return std::ceil(1.0 * run_.ranks / run_.nodes); }

private:
    Option begin(const char* service, const Way& way) const {
        Option o;
        o.service = service;
        o.way = way;
        o.work = shares_.work_of(way);
        o.cost = cost_of(run_.machine, run_.folder, o.work);
        return o;
    }

    Option end(Option o) const {
        const double outputs = run_.outputs;
        limit_to_disk(o);
        o.fits = run_.memory == 0 || o.memory.node <= run_.memory;
        // The last output is not hidden, because no computing follows it.
        o.seconds = outputs * o.outcome.period + o.outcome.behind;
        o.share = o.seconds > 0 ? 1 - outputs * run_.compute() / o.seconds : 0;
        return o;
    }

    /// Limits the rate to that of the disk if the data do not fit in memory.
    void limit_to_disk(Option& o) const {
        const double cached = dirty_part * run_.memory * std::max(1, o.work.writer_nodes);
        if (run_.durable || run_.memory == 0 || o.work.bytes * run_.outputs <= cached) return;
        const double disk = o.work.bytes / rate_of(run_.folder, o.work.writers, true);
        if (disk <= o.outcome.period) return;
        o.slow_disk = true;
        o.outcome.period = disk;
        const double all = o.outcome.calls + std::max(o.outcome.behind, disk);
        const double seen = disk - run_.compute();
        if (o.service != "inline")
            o.outcome.hidden = std::clamp(1 - seen / all, 0.0, o.outcome.hidden);
    }

    const Run& run_;
    const Shares& shares_;
};

/// Returns 1, 2, 3, 4, 6, 8, 12, ... and multiples of the nodes, up to half of the ranks.
std::set<int> server_counts(const Run& run) {
    std::set<int> counts;
    const int most = std::max(1, run.ranks / 2);
    for (int power = 1; power <= most; power *= 2)
        for (const int n : {power, power + power / 2})
            if (n <= most) counts.insert(n);
    for (const int per_node : {1, 2, 4})
        if (per_node <= most / run.nodes) counts.insert(run.nodes * per_node);
    return counts;
}

/// Returns the option with the fewest servers among those that are equally fast.
std::size_t best_of(const std::vector<Option>& options) {
    double least = INFINITY;
    for (const Option& o : options)
        if (o.fits) least = std::min(least, o.seconds);
    for (std::size_t i = 0; i < options.size(); ++i)
        if (options[i].fits && options[i].seconds <= least * alike) return i;
    return 0;
}

/// Returns the rank of an option in the order of preference among equally fast ones. Simple options
/// come first.
int rank_of(const Option& o) {
    const int service = o.service == "inline" ? 0 : o.service == "background" ? 1 : 2;
    return 2 * service + (o.way.method == "record" ? 0 : 1);
}

/// Explains why an option takes longer than the best one.
std::string reason_of(const Run& run, const Option& o, const Option& best) {
    if (!o.fits)
        return fmt::format("needs {} of a node's memory of {}", bytes_of(o.memory.node),
                           bytes_of(run.memory));
    if (o.seconds <= best.seconds * alike) return "as fast within 0.5 %";
    const double each = o.work.calls > 0 ? o.work.writer_bytes / o.work.calls : 0;
    const auto writers = [&] {
        return o.work.writers == 1 ? std::string("one writer writes everything")
                                   : fmt::format("{} writers", o.work.writers);
    };
    const auto call_seconds = [&](const Option& of) { return of.work.calls * run.folder.call; };
    const std::pair<double, std::string> terms[] = {
        {o.cost.lock - best.cost.lock, "writers write parts of the same blocks"},
        {call_seconds(o) - call_seconds(best),
         fmt::format("{:.0f} writes of {} by a writer", o.work.calls, bytes_of(each))},
        {std::max(o.cost.write - call_seconds(o), o.cost.disk) -
             std::max(best.cost.write - call_seconds(best), best.cost.disk),
         writers()},
        {o.cost.message - best.cost.message,
         fmt::format("{} between nodes into one of them", bytes_of(o.work.received))},
        {o.cost.metadata - best.cost.metadata, "creates more files"},
        {o.cost.compress - best.cost.compress,
         o.work.writers == 1 ? std::string("one writer compresses everything")
                             : fmt::format("{} writers compress", o.work.writers)},
        {o.cost.rounds - best.cost.rounds,
         fmt::format("{:.0f} collective calls of MPI-IO", o.work.rounds)},
        {o.outcome.slower - best.outcome.slower, o.service == "background"
                                                     ? "no core is free for the writing thread"
                                                     : "servers take ranks from the model"}};
    const auto* most =
        std::max_element(std::begin(terms), std::end(terms),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
    const double waits = o.outcome.period - run.compute() - o.outcome.slower;
    if (o.service == "inline" && best.service != "inline" && most->first < waits / 2)
        return "the model waits for the output";
    if (most->first <= 0.01 * o.outcome.period)
        return o.outcome.behind > run.compute() ? "writing takes longer than computing"
                                                : "more work in the calls";
    return most->second;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> Option::settings() const {
    std::vector<std::pair<std::string, std::string>> found = {{"service", service},
                                                              {"method", way.method}};
    if (way.own_files) found.emplace_back("files", "tiles");
    if (!writers.empty()) found.emplace_back("writers", writers);
    if (service == "servers") found.emplace_back("servers", std::to_string(way.servers));
    return found;
}

std::string bytes_of(double bytes) {
    const char* const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    std::size_t u = 0;
    for (; bytes >= 999.5 && u + 1 < std::size(units); ++u) bytes /= 1000;
    return bytes < 99.5 && u > 0 ? fmt::format("{:.1f} {}", bytes, units[u])
                                 : fmt::format("{:.0f} {}", bytes, units[u]);
}

/// Tests if the library supports a combination. It does not support rows, columns or tiles for
/// lists, tiles by PnetCDF, or methods that divide compressed chunks, except in separate files.
bool possible(const Run& run, const char* service, const Way& way) {
    const bool in_calls = service == std::string("inline");
    const bool lines = way.method == "rows" || way.method == "columns" || way.method == "tiles";
    if (run.list_run > 0 && lines) return false;
    if (way.method == "direct" && (!in_calls || run.storage == "netcdf4")) return false;
    if (run.storage == "pnetcdf") return in_calls && !way.own_files;
    return !run.compressed() || way.own_files || way.method == "serial" || way.method == "record";
}

/// Returns the setting "writers" that the library would choose. If data are compressed, all ranks
/// are writers. In the background, the writers are threads on free cores as with service=auto, or
/// one thread per rank.
std::string writers_of(const Run& run, const Shares& shares, bool own_files, bool in_background) {
    if (!run.compressed() || own_files || run.writers != "auto") return shares.chosen().writers;
    const int ranks = (run.ranks + run.nodes - 1) / run.nodes;
    const int free = std::min(ranks, run.cores - ranks);
    return fmt::format("{}/node", in_background && free > 0 ? free : ranks);
}

/// Tests if several numbers of writers should be compared: the method permits any number, and
/// several were measured.
bool can_sweep(const Run& run, const Way& way) {
    return run.machine.measured() && run.writers == "auto" && run.storage == "posix" &&
           !way.own_files &&
           (way.method == "record" || way.method == "slabs" || way.method == "tiles");
}

/// Returns the option with the library's own number of writers, or with a better number among those
/// for which the file system was measured.
/// @param make  function that makes an option from a way
template <class Make>
Option with_best_writers(const Run& run, const Way& usual, Make&& make) {
    Option best = make(usual);
    if (!can_sweep(run, usual)) return best;
    const auto cost = [&](const Option& o) {
        return o.seconds - static_cast<double>(run.outputs) * run.compute();
    };
    double least = worthwhile * cost(best);
    const auto& measured = run.folder.writers;
    const int on_node = (run.ranks + run.nodes - 1) / run.nodes;
    for (int n = 1; n <= on_node; n = n < on_node ? std::min(2 * n, on_node) : n + 1) {
        Way way = usual;
        way.writers = fmt::format("{}/node", n);
        Option o = make(way);
        if (o.work.writers < measured.front() || o.work.writers > measured.back() || !o.fits ||
            cost(o) >= least)
            continue;
        least = cost(o);
        best = std::move(o);
        best.writers = way.writers;
    }
    return best;
}

Plan make_plan(const Run& run, const Shares& shares) {
    const Planner planner(run, shares);
    Plan plan;
    if (run.ranks > 1 && possible(run, "servers", {"record", false, "", 1, true}))
        for (const int n : server_counts(run))
            plan.servers.push_back(planner.servers({"record", false, "", n}));
    plan.best_servers = best_of(plan.servers);
    plan.reading = shares.reading();
    plan.read_seconds = read_seconds(run.machine, run.folder, plan.reading);
    for (const char* method :
         {"record", "slabs", "rows", "columns", "tiles", "own files", "direct", "serial"}) {
        const bool own_files = method == std::string("own files");
        Way way{own_files ? "tiles" : method, own_files, writers_of(run, shares, own_files, false),
                0};
        if (possible(run, "inline", way))
            plan.options.push_back(
                with_best_writers(run, way, [&](const Way& w) { return planner.in_calls(w); }));
        way.writers = writers_of(run, shares, own_files, true);
        if (possible(run, "background", way))
            plan.options.push_back(
                with_best_writers(run, way, [&](const Way& w) { return planner.background(w); }));
        if (plan.servers.empty() || !possible(run, "servers", way)) continue;
        way.servers = plan.servers[plan.best_servers].way.servers;
        plan.options.push_back(planner.servers(way));
    }
    std::stable_sort(plan.options.begin(), plan.options.end(),
                     [](const Option& a, const Option& b) {
                         return std::pair(!a.fits, a.seconds) < std::pair(!b.fits, b.seconds);
                     });
    double least = INFINITY, without = INFINITY;
    for (const Option& o : plan.options) {
        if (!o.fits) continue;
        least = std::min(least, o.seconds);
        if (o.service != "servers") without = std::min(without, o.seconds);
    }
    plan.without_servers = without;
    for (std::size_t i = 0; i < plan.options.size(); ++i) {
        const Option& o = plan.options[i];
        if (!o.fits || o.seconds > least * alike) break;
        if (rank_of(o) < rank_of(plan.options[plan.best])) plan.best = i;
    }
    plan.servers_pay = !plan.servers.empty() && plan.servers[plan.best_servers].fits &&
                       plan.servers[plan.best_servers].seconds * alike < without;
    for (std::size_t i = 0; i < plan.options.size(); ++i)
        if (i != plan.best)
            plan.options[i].why = reason_of(run, plan.options[i], plan.options[plan.best]);
    return plan;
}

}  // namespace thalweg::planning
