// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "plan/report.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::planning {

using namespace detail;
using nlohmann::ordered_json;

namespace {

std::string seconds_of(double seconds) {
    if (seconds >= 100) return fmt::format("{:.0f}", seconds);
    if (seconds == 0) return "0";
    if (seconds >= 1) return fmt::format("{:.2f}", seconds);
    return fmt::format("{:.4f}", seconds);
}

std::string percent_of(double part) {
    if (part < 0.00995) return fmt::format("{:.2f} %", 100 * part);
    return part < 0.0995 ? fmt::format("{:.1f} %", 100 * part)
                         : fmt::format("{:.0f} %", 100 * part);
}

std::string grid_of(const Run& run) {
    std::string text;
    for (const Cuts& cuts : run.grid)
        text += fmt::format("{}{} x {}", text.empty() ? "" : ", ",
                            run.dimensions[static_cast<std::size_t>(cuts.dim)], cuts.parts);
    return text;
}

std::string figures_of(const Run& run) {
    if (!run.machine.measured()) return "assumed figures: measure with thalweg-plan calibrate";
    return "figures of " + run.calibration;
}

double per_output(const Run& run, const Option& o) { return o.outcome.period - run.compute(); }

std::string table_of(const Run& run, const Plan& plan) {
    std::string text =
        fmt::format("{:<10} {:<17} {:>7} {:>8} {:>9} {:>12} {:>9} {:>8} {:>7} {:>9} {:>9}  {}\n",
                    "service", "method", "writers", "writes", "calls s", "background s", "cost s",
                    "hidden", "share", "a rank", "a node", "why not");
    for (std::size_t i = 0; i < plan.options.size(); ++i) {
        const Option& o = plan.options[i];
        text += fmt::format(
            "{:<10} {:<17} {:>7} {:>8.0f} {:>9} {:>12} {:>9} {:>8} {:>7} {:>9} {:>9}  {}\n",
            o.service, o.method(), o.work.writers, o.work.calls, seconds_of(o.outcome.calls),
            seconds_of(o.outcome.behind), seconds_of(per_output(run, o)),
            o.service == "inline" ? "no" : percent_of(o.outcome.hidden), percent_of(o.share),
            bytes_of(o.memory.rank), bytes_of(o.memory.node), i == plan.best ? "best" : o.why);
    }
    return text;
}

std::string servers_of(const Plan& plan) {
    if (plan.servers.empty()) return "";
    std::string text =
        fmt::format("\n{:>8} {:>10} {:>7} {:>7}  run\n", "servers", "run s", "share", "hidden");
    double longest = 0;
    for (const Option& o : plan.servers) longest = std::max(longest, o.seconds);
    for (std::size_t i = 0; i < plan.servers.size(); ++i) {
        const Option& o = plan.servers[i];
        const auto bar = static_cast<std::size_t>(std::lround(40 * o.seconds / longest));
        text += fmt::format(
            "{:>8} {:>10} {:>7} {:>7}  {}{}{}\n", o.way.servers, seconds_of(o.seconds),
            percent_of(o.share), percent_of(o.outcome.hidden), std::string(bar, '#'),
            i == plan.best_servers ? "  best" : "", o.fits ? "" : "  too little memory");
    }
    const Option& best = plan.servers[plan.best_servers];
    const double gain = plan.without_servers - best.seconds;
    if (plan.servers_pay)
        text += fmt::format("{} servers pay: {} s less than without servers\n", best.way.servers,
                            seconds_of(gain));
    else
        text += fmt::format("Servers do not pay: the run takes {} s with {}, {} s without\n",
                            seconds_of(best.seconds), best.way.servers,
                            seconds_of(plan.without_servers));
    return text;
}

/// Formats settings in the form that tw_init takes, for example "service=inline; method=record".
std::string settings_of(const Option& option) {
    std::string text;
    for (const auto& [name, value] : option.settings())
        text += fmt::format("{}{}={}", text.empty() ? "" : "; ", name, value);
    return text;
}

std::string advice_of(const Plan& plan) {
    const Option& best = plan.options[plan.best];
    std::string text = fmt::format("\nBest: {}: output takes {} of the run ({} s of {} s)\n",
                                   settings_of(best), percent_of(best.share),
                                   seconds_of(best.seconds * best.share), seconds_of(best.seconds));
    text += "Configuration file (THALWEG_CONFIG):\n";
    for (const auto& [name, value] : best.settings())
        text += fmt::format("  {} = \"{}\"\n", name, value);
    if (!best.fits) text += "Nothing fits into the memory of a node.\n";
    if (std::any_of(plan.options.begin(), plan.options.end(),
                    [](const Option& o) { return o.slow_disk; }))
        text += "The run writes more than memory holds, faster than the disk takes it.\n";
    return text;
}

std::string reading_of(const Plan& plan) {
    const Work& w = plan.reading;
    return fmt::format(
        "\nReading an output back, as after a restart: {} s, {}\n", seconds_of(plan.read_seconds),
        w.exchanged ? fmt::format("by {} readers", w.writers) : "each rank what it holds");
}

ordered_json row_of(const Run& run, const Option& o) {
    ordered_json row;
    row["service"] = o.service;
    row["method"] = o.way.method;
    row["own_files"] = o.way.own_files;
    row["settings"] = settings_of(o);
    row["writers"] = o.work.writers;
    row["servers"] = o.service == "servers" ? o.way.servers : 0;
    row["files"] = std::max(1.0, std::ceil(o.work.files * static_cast<double>(run.outputs)));
    row["writes_of_a_writer"] = o.work.calls;
    row["messages"] = o.work.messages;
    row["bytes_between_nodes"] = o.work.received;
    row["memory_rank"] = o.memory.rank;
    row["memory_node"] = o.memory.node;
    row["fits"] = o.fits;
    const Cost& c = o.cost;
    row["terms"] = {{"agree", c.agree},       {"copy", c.copy},         {"pack", c.pack},
                    {"message", c.message},   {"exchange", c.exchange}, {"unpack", c.unpack},
                    {"compose", c.compose},   {"write", c.write},       {"disk", c.disk},
                    {"first", c.first},       {"lock", c.lock},         {"metadata", c.metadata},
                    {"compress", c.compress}, {"rounds", c.rounds}};
    row["seconds_in_calls"] = o.outcome.calls;
    row["seconds_in_background"] = o.outcome.behind;
    row["seconds_slower"] = o.outcome.slower;
    row["seconds_per_output"] = per_output(run, o);
    row["hidden"] = o.outcome.hidden;
    row["run_seconds"] = o.seconds;
    row["share_of_run"] = o.share;
    row["why_not"] = o.why;
    return row;
}

}  // namespace

std::string text_of(const Run& run, const Shares& shares, const Plan& plan) {
    std::string text = run.title.empty() ? "" : run.title + "\n";
    text += fmt::format("{} ranks ({}) on {} nodes of {} cores, {}; {}\n", run.ranks, grid_of(run),
                        run.nodes, run.cores, run.file_system.name, figures_of(run));
    const auto outputs = static_cast<double>(run.outputs);
    text +=
        fmt::format("{} outputs of {} ({} variables), {} in all; {} s of computing between two\n",
                    run.outputs, bytes_of(shares.bytes()), shares.variables(),
                    bytes_of(outputs * shares.bytes()), seconds_of(run.compute()));
    if (!shares.chosen().warning.empty()) text += "Note: " + shares.chosen().warning + "\n";
    return text + "\n" + table_of(run, plan) + advice_of(plan) + servers_of(plan) +
           reading_of(plan);
}

std::string json_of(const Run& run, const Shares& shares, const Plan& plan) {
    ordered_json out;
    out["description"] = run.file;
    out["title"] = run.title;
    out["ranks"] = run.ranks;
    out["nodes"] = run.nodes;
    out["cores"] = run.cores;
    out["decomposition"] = grid_of(run);
    out["file_system"] = run.file_system.name;
    out["measured"] = run.machine.measured();
    out["outputs"] = run.outputs;
    out["bytes_of_an_output"] = shares.bytes();
    out["bytes"] = shares.bytes() * static_cast<double>(run.outputs);
    out["compute_seconds"] = run.compute() * static_cast<double>(run.outputs);
    out["note"] = shares.chosen().warning;
    out["storage"] = run.storage;
    out["reading"] = {{"seconds", plan.read_seconds},
                      {"readers", plan.reading.writers},
                      {"exchanged", plan.reading.exchanged}};
    out["best"] = row_of(run, plan.options[plan.best]);
    out["options"] = ordered_json::array();
    for (const Option& o : plan.options) out["options"].push_back(row_of(run, o));
    ordered_json& servers = out["servers"];
    servers["best"] = plan.servers.empty() ? 0 : plan.servers[plan.best_servers].way.servers;
    servers["pay"] = plan.servers_pay;
    servers["run_seconds_without"] = plan.without_servers;
    servers["curve"] = ordered_json::array();
    for (const Option& o : plan.servers) servers["curve"].push_back(row_of(run, o));
    return out.dump(2) + "\n";
}

Status write_file(const std::string& path, const std::string& text) {
    const std::string part = path + ".part";
    errno = 0;
    std::ofstream out(part, std::ios::binary);
    out << text;
    out.close();
    if (!out) return failure(TW_EIO, "{}: cannot write: {}", part, std::strerror(errno));
    if (std::rename(part.c_str(), path.c_str()) != 0) return system_failure(path, "cannot rename");
    return {};
}

}  // namespace thalweg::planning
