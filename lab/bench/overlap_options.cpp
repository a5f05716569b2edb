// SPDX-License-Identifier: Apache-2.0
#include "overlap_options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

#include "workload.hpp"

namespace thalweg::bench {
namespace {

Way service_way(const std::string& name) {
    const std::string later = "+later";
    if (name.size() > later.size() && name.ends_with(later)) {
        Way way = service_way(name.substr(0, name.size() - later.size()));
        way.name = name;
        way.settings += "; close=later";
        return way;
    }
    Way way{name, name, 0, {}, {}};
    if (name == "serial") {
        way.service = "inline";
        way.settings = "method=serial";
        return way;
    }
    for (const char* plain : {"none", "pack", "inline", "background", "auto"})
        if (name == plain) return way;
    const std::string prefix = "servers:";
    const char* const end = name.data() + name.size();
    if (name.rfind(prefix, 0) == 0) {
        const auto [rest, error] = std::from_chars(name.data() + prefix.size(), end, way.servers);
        if (error == std::errc{} && rest == end && way.servers > 0) {
            way.service = "servers";
            return way;
        }
    }
    throw UsageError("--services " + name +
                     ": must be none, pack, inline, serial, background, auto or servers:N");
}

/// Returns the way of output of another library, if its rate of writing can be limited.
Way peer_way(const std::string& name) {
    if (name != "raw" && name.rfind("peer-pnetcdf", 0) != 0)
        throw UsageError("--peers " + name +
                         ": must be raw, peer-pnetcdf or peer-pnetcdf-nonblocking");
    return {name, "inline", 0, find_method(name), {}};
}

}  // namespace

int OverlapOptions::all_ranks() const {
    int servers = 0;
    for (const Way& way : ways) servers = std::max(servers, way.servers);
    return ranks + servers;
}

Parsed parse_overlap_options(int argc, char** argv, OverlapOptions& options, std::string& text) {
    CLI::App app{
        "Measures how much of the output overlaps with a model's computation. A step is "
        "computation without messages, the put of all variables, and the end of the step; kinds of "
        "output and of computation are interleaved in one run."};
    app.name("thalweg-bench overlap");
    app.get_formatter()->column_width(34);

    Options& base = options.base;
    base.workload = "cfio-2";
    base.steps = 20;
    base.warmup = 0;  // no warm-up here: each session writes a short file first
    base.copy_puts = true;
    base.bandwidth = 500'000'000;
    options.ranks = 4;
    std::vector<std::string> services{"none",       "pack",      "inline",
                                      "background", "servers:1", "servers:2"};
    std::vector<std::string> peers{"peer-pnetcdf", "peer-pnetcdf-nonblocking"};
    std::string compute = "both";
    app.add_option("workload", base.workload, "The workload to write")->capture_default_str();
    app.add_option("--ranks", options.ranks,
                   "Ranks of the model; the program needs as many more as the largest servers:N")
        ->capture_default_str()
        ->check(CLI::Range(1, 1000000));
    app.add_option("-s,--steps", base.steps, "Steps")
        ->capture_default_str()
        ->check(CLI::Range(1, 1000000));
    app.add_option(
           "--services", services,
           "Services of the library, separated by commas: inline, background, servers:N, "
           "auto, serial (inline, by one rank); with +later, as background+later, files are "
           "closed without waiting; none (no output), pack (copies only) and inline "
           "are always measured")
        ->delimiter(',')
        ->capture_default_str();
    app.add_option(
           "--peers", peers,
           "Methods of other libraries: raw, peer-pnetcdf, peer-pnetcdf-nonblocking; or none")
        ->delimiter(',')
        ->capture_default_str();
    app.add_option("--compute", compute, "Kind of computation: sleep, arithmetic or both")
        ->capture_default_str()
        ->check(CLI::IsMember({"sleep", "arithmetic", "both"}));
    app.add_option("--compute-seconds", options.compute_seconds,
                   "Seconds of computation per step; 0: output as fast as possible (default: the "
                   "same ratio to a step's output as in the workload's paper)")
        ->check(CLI::Range(0.0, 1e6));
    app.add_option("--every", options.every, "Steps of computation between two outputs")
        ->capture_default_str()
        ->check(CLI::Range(1, 1000000));
    app.add_option("--steps-per-file", options.steps_per_file,
                   "Outputs in a file, after which another one is begun (default: all)")
        ->check(CLI::Range(1, 1000000));
    app.add_option("--bandwidth", base.bandwidth,
                   "Limit in bytes per second for all writers together (500MB, 2GiB); 0: no limit")
        ->capture_default_str()
        ->transform(CLI::AsSizeValue(true));
    app.add_option("--serial-bandwidth", options.serial_bandwidth,
                   "The same for serial, whose single writer may get less from a parallel file "
                   "system (default: as --bandwidth)")
        ->transform(CLI::AsSizeValue(true));
    app.add_flag("--print-ranks", options.print_ranks, "Print how many ranks are needed")
        ->group("Output");
    add_workload_options(app, base);
    add_measuring_options(app, base);

    if (parse(app, argc, argv, text) == Parsed::done) return Parsed::done;
    // The ways with which all others are compared: output in the call, copies only, and no output.
    std::vector<std::string> needed_ways{"inline", "pack", "none"};
    if (options.compute_seconds < 0) needed_ways.push_back(find_workload(base).pace.output);
    for (const std::string& needed : needed_ways)
        if (std::find(services.begin(), services.end(), needed) == services.end())
            services.insert(services.begin(), needed);
    for (const std::string& name : services) options.ways.push_back(service_way(name));
    for (const std::string& name : peers)
        if (name != "none") options.ways.push_back(peer_way(name));
    for (std::size_t i = 0; i < options.ways.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (options.ways[i].name == options.ways[j].name)
                throw UsageError("\"" + options.ways[i].name + "\" is given twice");
    if (compute != "arithmetic" || options.compute_seconds == 0)
        options.computing.push_back(Computing::sleep);
    if (compute != "sleep" && options.compute_seconds != 0)
        options.computing.push_back(Computing::arithmetic);
    if (options.print_ranks) {
        text = std::to_string(options.all_ranks()) + "\n";
        return Parsed::done;
    }
    return Parsed::run;
}

}  // namespace thalweg::bench
