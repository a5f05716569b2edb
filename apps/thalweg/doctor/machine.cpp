// SPDX-License-Identifier: Apache-2.0
#include "doctor/machine.hpp"

#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "base/system/free_memory.hpp"
#include "base/system/processors.hpp"
#include "size_text.hpp"

namespace thalweg::app {

namespace {

constexpr std::int64_t few_descriptors = 1024;
/// Default of the setting "staging", in bytes per rank.
constexpr std::int64_t memory_of_rank = std::int64_t(256) << 20;

void check_processors(const Nodes& nodes, Diagnoses& found) {
    const int own = detail::count(detail::own_processors());
    const int online = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
    const int granted = std::min(online, detail::processor_quota());
    const int threads = detail::model_threads();
    found.push_back({Level::good, "processors",
                     fmt::format("{} for {} of this node; a rank may use {}{}", granted,
                                 count_text(nodes.ranks, "rank"), own,
                                 threads > 1 ? fmt::format("; OMP_NUM_THREADS={}", threads) : ""),
                     ""});
    if (nodes.ranks * threads > granted)
        found.push_back(
            {Level::note, "processors",
             fmt::format("{} {} share {}: ranks that wait take time from those that work",
                         nodes.ranks * threads, threads > 1 ? "threads" : "ranks",
                         count_text(granted, "processor")),
             "mpirun --bind-to none --mca mpi_yield_when_idle 1 ..."});
    else if (nodes.ranks > 1 && own <= threads && nodes.ranks * threads < granted)
        found.push_back({Level::note, "processors",
                         "each rank is bound to the processors that its model uses: a background "
                         "thread (service=background) has none of its own, although some are free",
                         "mpirun --bind-to none ...  # srun: --cpu-bind=none"});
}

void check_memory(const Nodes& nodes, Diagnoses& found) {
    const detail::FreeMemory memory = detail::free_memory();
    if (memory.bytes == INT64_MAX) return;
    const bool little = memory.bytes < nodes.ranks * memory_of_rank;
    found.push_back(
        {little ? Level::note : Level::good, "memory",
         fmt::format(
             "{} free for {}{}", size_text(memory.bytes), count_text(nodes.ranks, "rank"),
             little ? "; a rank may use 256 MiB for copies of put data (setting staging)" : ""),
         little ? "export THALWEG_STAGING=32MiB" : ""});
}

void check_limits(Diagnoses& found) {
    struct rlimit limit {};
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        found.push_back({Level::problem, "limits",
                         fmt::format("files may have at most {}",
                                     size_text(static_cast<std::int64_t>(limit.rlim_cur))),
                         "ulimit -f unlimited"});
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        static_cast<std::int64_t>(limit.rlim_cur) < few_descriptors)
        found.push_back({Level::note, "limits",
                         fmt::format("a process may have {} files open", limit.rlim_cur),
                         fmt::format("ulimit -n {}", few_descriptors)});
}

}  // namespace

Nodes find_nodes(detail::Comm& comm) {
    Nodes nodes;
    const std::unique_ptr<detail::Comm> node = comm.split_shared();
    nodes.ranks = node->size();
    nodes.first = node->rank() == 0;
    std::int64_t count = nodes.first ? 1 : 0;
    comm.all_reduce({&count, 1}, detail::Reduce::sum);
    nodes.count = static_cast<int>(count);
    return nodes;
}

void check_machine(const Nodes& nodes, Diagnoses& found) {
    if (nodes.count > 1) found.push_back({Level::good, "nodes", std::to_string(nodes.count), ""});
    check_processors(nodes, found);
    check_memory(nodes, found);
    check_limits(found);
}

}  // namespace thalweg::app
