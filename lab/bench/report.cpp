// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "machine.hpp"
#include "table.hpp"

namespace thalweg::bench {
namespace {

using Json = nlohmann::ordered_json;

std::vector<double> collect(const Result& result, const std::function<double(const Sample&)>& get) {
    std::vector<double> values;
    for (const Sample& s : result.samples) values.push_back(get(s));
    return values;
}

double smallest(const std::vector<double>& v) { return *std::min_element(v.begin(), v.end()); }
double largest(const std::vector<double>& v) { return *std::max_element(v.begin(), v.end()); }

Json row(const Result& result, const Result& raw, const Problem& problem, const Options& options,
         int steps) {
    Json r;
    r["workload"] = problem.workload().name;
    r["ranks"] = problem.ranks();
    r["method"] = result.info->name;
    r["storage"] = result.storage.empty() ? result.info->storage : result.storage;
    r["service"] = result.service;
    r["settings"] = result.info->settings;
    r["library"] = result.info->library;
    if (!result.error.empty()) {
        r["error"] = result.error;
        return r;
    }
    const std::int64_t bytes = problem.step_bytes() * steps;
    const auto seconds = collect(result, [](const Sample& s) { return s.seconds; });
    std::vector<double> ratios;
    for (std::size_t i = 0; i < seconds.size() && i < raw.samples.size(); ++i)
        ratios.push_back(seconds[i] / raw.samples[i].seconds);
    const double middle = median(seconds);

    r["steps"] = steps;
    r["bytes"] = bytes;
    r["file_bytes"] = result.file_bytes;
    r["median_seconds"] = middle;
    r["min_seconds"] = smallest(seconds);
    r["max_seconds"] = largest(seconds);
    r["mb_per_s"] = static_cast<double>(bytes) / 1e6 / middle;
    if (!ratios.empty()) {
        r["ratio_to_raw"] = median(ratios);
        r["min_ratio_to_raw"] = smallest(ratios);
        r["max_ratio_to_raw"] = largest(ratios);
    }
    r["cpu_seconds"] = median(collect(result, [](const Sample& s) { return s.cpu_seconds; }));
    r["switches_per_step"] = median(collect(result, [](const Sample& s) { return s.switches; }));
    r["most_switches_per_step"] =
        median(collect(result, [](const Sample& s) { return s.most_switches; }));
    r["peak_bytes"] = result.peak_bytes;
    r["peak_rss_bytes"] = result.peak_rss_bytes;
    r["peak_node_bytes"] = result.peak_node_bytes;
    const auto phase = [&](double Phases::*p) {
        return median(collect(result, [p](const Sample& s) { return s.phases.*p; }));
    };
    r["phases"] = {
        {"open", median(collect(result, [](const Sample& s) { return s.open_seconds; }))},
        {"put", phase(&Phases::put)},
        {"remap", phase(&Phases::remap)},
        {"wait", phase(&Phases::wait)},
        {"write", phase(&Phases::write)},
        {"close", phase(&Phases::close)}};
    r["setup_seconds"] = result.setup_seconds;
    r["writes"] = result.samples.back().writes;
    if (result.samples.back().messages >= 0)
        r["messages"] = result.samples.back().messages;
    else
        r["messages"] = nullptr;
    r["fsync_calls"] = result.samples.back().fsync_calls;
    r["fsync_seconds"] = median(collect(result, [](const Sample& s) { return s.fsync_seconds; }));
    if (options.verify != Verify::none) {
        r["verified"] = result.verified;
        if (!result.wrong.empty()) r["wrong"] = result.wrong;
        if (result.hashed) r["hash"] = fmt::format("{:016x}", result.hash);
    }
    if (result.info->kind == FileKind::netcdf4) {
        r["deflate"] = options.deflate;
        r["shuffle"] = options.shuffle;
    }
    if (result.info->kind == FileKind::netcdf4 && !result.info->library)
        r["chunk"] = options.netcdf4_chunk == Chunk::record  ? "one record of a variable"
                     : options.netcdf4_chunk == Chunk::level ? "one level of a record"
                                                             : "netCDF-C's default";
    if (!result.details.empty()) r["details"] = Json::parse(result.details, nullptr, false);
    r["repetitions"] = seconds;
    return r;
}

std::string grid_text(const Problem& problem) {
    std::string text;
    for (std::size_t a = 0; a < problem.grid().size(); ++a)
        text += fmt::format("{}{} {}", a == 0 ? "" : " x ", problem.grid()[a],
                            problem.workload().axes[a].front());
    return text;
}

}  // namespace

Json report_json(const Json& machine, const Problem& problem, const Options& options,
                 const Measurement& measurement, const std::string& command) {
    Json report;
    report["program"] = "thalweg-bench";
    report["date"] = date_now();
    report["command"] = command;
    report["machine"] = machine;
    Json dims;
    for (const Dimension& d : problem.workload().dims) dims[d.name] = d.length;
    report["workload"] = {{"name", problem.workload().name},
                          {"text", problem.workload().text},
                          {"cut", problem.workload().cut},
                          {"dimensions", dims},
                          {"variables", problem.variables().size()},
                          {"ranks", problem.ranks()},
                          {"grid", grid_text(problem)},
                          {"step_bytes", problem.step_bytes()},
                          {"steps", measurement.steps}};
    report["measurement"] = {
        {"repetitions", options.repetitions},
        {"warmup", options.warmup},
        {"time", "output steps with the close, slowest rank, from a common start; open apart"},
        {"ratio_to_raw", "median of the ratios to raw in the same repetition"},
        {"durable", options.durable},
        {"sync_between", options.sync_between},
        {"put", options.copy_puts ? "copy" : "deferred"},
        {"format", options.format},
        {"settings", options.settings},
        {"peak_bytes", measurement.peaks_reset
                           ? "growth over the fields, largest rank, shared pages divided by users"
                           : "of the whole run: the system did not permit to reset it"}};
    const Result* raw = nullptr;
    for (const Result& r : measurement.results)
        if (r.info->name == "raw") raw = &r;
    report["results"] = Json::array();
    for (const Result& r : measurement.results)
        report["results"].push_back(row(r, *raw, problem, options, measurement.steps));
    return report;
}

std::string report_table(const Json& report) {
    const Json& w = report["workload"];
    const Json& m = report["machine"];
    const int ranks = w["ranks"];
    const double mb = w["step_bytes"].get<double>() * w["steps"].get<double>() / 1e6;
    std::string text = fmt::format(
        "{}: {} variables, {:.1f} MB in {} step{}, {} rank{} ({}); medians of {} repetitions\n",
        w["name"].get<std::string>(), w["variables"].get<int>(), mb, w["steps"].get<int>(),
        w["steps"] == 1 ? "" : "s", ranks, ranks == 1 ? "" : "s", w["grid"].get<std::string>(),
        report["measurement"]["repetitions"].get<int>());
    if (const auto cut = w["cut"].get<std::string>(); !cut.empty())
        text += "smaller than in the paper: " + cut + "\n";
    text += fmt::format("{}, {} cores, {}, {}\n\n", m["processor"].get<std::string>(),
                        m["cores"].get<int>(), m["file_system"].get<std::string>(),
                        m["mpi"].get<std::string>());

    std::vector<std::vector<std::string>> rows{{"method", "ranks", "MB", "seconds", "open", "put",
                                                "remap", "wait", "write", "close", "MB/s", "x raw",
                                                "CPU s", "switches", "peak MB", ""}};
    for (const Json& r : report["results"]) {
        const auto name = r["method"].get<std::string>();
        if (r.contains("error")) {
            rows.push_back({name, std::to_string(ranks), "", "", "", "", "", "", "", "", "", "", "",
                            "", "", "not measured: " + r["error"].get<std::string>()});
            continue;
        }
        const Json& p = r["phases"];
        const auto number = [](const Json& value, int digits) {
            return fmt::format("{:.{}f}", value.get<double>(), digits);
        };
        rows.push_back(
            {name, std::to_string(ranks), number(r["bytes"].get<double>() / 1e6, 1),
             number(r["median_seconds"], 3), number(p["open"], 3), number(p["put"], 3),
             number(p["remap"], 3), number(p["wait"], 3), number(p["write"], 3),
             number(p["close"], 3), number(r["mb_per_s"], 0), number(r["ratio_to_raw"], 2),
             number(r["cpu_seconds"], 2),
             number(r["switches_per_step"], 0) + "/" + number(r["most_switches_per_step"], 0),
             number(r["peak_bytes"].get<double>() / 1e6, 1),
             r.contains("wrong") ? "WRONG: " + r["wrong"].get<std::string>() : ""});
    }
    return text + format_table(rows);
}

}  // namespace thalweg::bench
