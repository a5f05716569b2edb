// SPDX-License-Identifier: Apache-2.0
#include "overlap_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "machine.hpp"
#include "table.hpp"

namespace thalweg::bench {
namespace {

using Json = nlohmann::ordered_json;
using Figure = double OverlapSample::*;

std::vector<double> all(const OverlapRow& row, Figure figure) {
    std::vector<double> values;
    for (const OverlapSample& s : row.samples) values.push_back(s.*figure);
    return values;
}

double middle(const OverlapRow& row, Figure figure) { return median(all(row, figure)); }

double most(const OverlapRow& row, Figure figure) {
    const std::vector<double> values = all(row, figure);
    return *std::max_element(values.begin(), values.end());
}

/// Returns the row with the given name and the same computing, with which others are compared.
const OverlapRow& standard(const OverlapMeasurement& m, const OverlapRow& row, const char* name) {
    return *std::find_if(m.rows.begin(), m.rows.end(), [&](const OverlapRow& r) {
        return r.way->name == name && r.computing == row.computing;
    });
}

/// Returns the median over the repetitions of a function of three total times: that of this row,
/// that without output, and that with output inline.
template <class F>
double paired(const OverlapMeasurement& m, const OverlapRow& row, F f) {
    const OverlapRow& none = standard(m, row, "none");
    const OverlapRow& in_call = standard(m, row, "inline");
    std::vector<double> values;
    for (std::size_t i = 0; i < row.samples.size(); ++i)
        values.push_back(f(row.samples[i].total, none.samples[i].total, in_call.samples[i].total));
    return median(values);
}

Json result(const OverlapMeasurement& m, const OverlapRow& row, const OverlapOptions& options) {
    const Options& base = options.base;
    const bool output = row.way->writes();
    const bool copies = output || row.way->service == "pack";
    const bool computes = m.compute_seconds > 0;
    const std::int64_t bytes = output ? m.step_bytes * base.steps : 0;
    Json r;
    r["workload"] = base.workload;
    r["name"] = row.way->name;
    r["service"] = row.way->service;
    r["servers"] = row.way->servers;
    r["ranks"] = options.ranks;
    r["compute"] = computes ? name_of(row.computing) : "none";
    r["library"] = row.way->library();
    if (!row.note.empty()) {
        r["skipped"] = row.note;
        if (!row.wrong.empty()) r["wrong"] = row.wrong;
        return r;
    }
    r["method"] = row.method;
    r["storage"] = row.storage;
    r["steps"] = base.steps;
    r["bytes"] = bytes;
    const double total = middle(row, &OverlapSample::total);
    const double library = middle(row, &OverlapSample::library);
    const double pack = middle(standard(m, row, "pack"), &OverlapSample::library);
    const std::vector<double> totals = all(row, &OverlapSample::total);
    r["total_seconds"] = total;
    r["min_seconds"] = *std::min_element(totals.begin(), totals.end());
    r["max_seconds"] = *std::max_element(totals.begin(), totals.end());
    r["open_seconds"] = middle(row, &OverlapSample::open);
    r["computing_seconds"] = middle(row, &OverlapSample::computing);
    r["library_seconds"] = library;
    r["close_seconds"] = middle(row, &OverlapSample::close);
    r["pack_seconds"] = pack;
    r["library_to_pack"] = copies && pack > 0 ? Json(library / pack) : Json();
    r["mb_per_s"] = static_cast<double>(bytes) / 1e6 / total;

    // Without computing, no output can be hidden, and there is no total time to compare with.
    const auto known = [](bool is, double value) { return is ? Json(value) : Json(); };
    r["ratio_to_no_output"] =
        known(computes, paired(m, row, [](double t, double none, double) { return t / none; }));
    r["io_seconds"] = paired(m, row, [](double t, double none, double) { return t - none; });
    r["hidden_fraction"] =
        known(computes && copies, paired(m, row, [](double t, double none, double in_call) {
                  return 1 - (t - none) / (in_call - none);
              }));
    r["speedup"] =
        known(output, paired(m, row, [](double t, double, double in_call) { return in_call / t; }));
    r["speedup_bound"] =
        known(computes && output,
              paired(m, row, [](double, double none, double in_call) { return in_call / none; }));

    r["cpu_seconds"] = middle(row, &OverlapSample::cpu);
    r["peak_bytes"] = static_cast<std::int64_t>(most(row, &OverlapSample::peak));
    r["peak_rss_bytes"] = static_cast<std::int64_t>(most(row, &OverlapSample::peak_rss));
    r["server_peak_rss_bytes"] =
        static_cast<std::int64_t>(most(row, &OverlapSample::server_peak_rss));
    const double waits = middle(row, &OverlapSample::queue_waits);
    const double wait_seconds = middle(row, &OverlapSample::queue_wait_seconds);
    r["queue_waits"] = known(waits >= 0, waits);
    r["queue_wait_seconds"] = known(wait_seconds >= 0, wait_seconds);
    if (output && base.verify != Verify::none) {
        r["verified"] = row.verified;
        if (!row.wrong.empty()) r["wrong"] = row.wrong;
    }
    if (!row.details.empty()) r["details"] = Json::parse(row.details);
    r["repetitions"] = totals;
    return r;
}

std::string number(const Json& value, int digits) {
    return value.is_number() ? fmt::format("{:.{}f}", value.get<double>(), digits) : "-";
}

}  // namespace

Json overlap_json(const Json& machine, const OverlapOptions& options, const OverlapMeasurement& m,
                  const std::string& command) {
    const Options& base = options.base;
    Json report;
    report["program"] = "thalweg-bench overlap";
    report["date"] = date_now();
    report["command"] = command;
    report["machine"] = machine;
    report["workload"] = {{"name", base.workload},      {"cut", m.workload.cut},
                          {"variables", m.variables},   {"ranks", options.ranks},
                          {"step_bytes", m.step_bytes}, {"steps", base.steps}};
    report["measurement"] = {
        {"repetitions", base.repetitions},
        {"warmup", base.warmup},
        {"compute_seconds", m.compute_seconds},
        {"every", options.every},
        {"steps_per_file",
         options.steps_per_file > 0 ? options.steps_per_file : options.base.steps},
        {"output_seconds", m.io_seconds},
        {"pace", {{"output", m.workload.pace.output}, {"compute", m.workload.pace.compute}}},
        {"bandwidth", base.bandwidth},
        {"serial_bandwidth", options.serial_bandwidth},
        {"put", base.copy_puts ? "copy" : "deferred"},
        {"format", base.format},
        {"settings", base.settings},
        {"time", "steps of computing and output with the close, slowest rank, from a common start"},
        {"ratios", "medians of the ratios of totals in the same repetition"},
        {"pack_seconds", "in the calls of the row that copies alone, with the same computing"},
        {"hidden_fraction", "1 - (total - total without output) / (inline - without output)"},
        {"speedup", "inline / total; its bound: inline / without output"},
        {"peak_bytes", m.peaks_reset
                           ? "growth over the fields, largest model rank, shared pages whole"
                           : "of the whole run: the system did not permit to reset it"}};
    report["results"] = Json::array();
    for (const OverlapRow& row : m.rows) report["results"].push_back(result(m, row, options));
    return report;
}

std::string overlap_table(const Json& report) {
    const Json& w = report["workload"];
    const Json& m = report["measurement"];
    const double rate = m["bandwidth"].get<double>();
    std::string text = fmt::format(
        "{}: {} steps of {:.1f} MB and {:.3f} s of computation, {} model ranks, {}; medians of {} "
        "repetitions\n",
        w["name"].get<std::string>(), w["steps"].get<int>(), w["step_bytes"].get<double>() / 1e6,
        m["compute_seconds"].get<double>(), w["ranks"].get<int>(),
        rate > 0 ? fmt::format("{:.0f} MB/s at most", rate / 1e6) : "no limit on bandwidth",
        m["repetitions"].get<int>());
    text += fmt::format("{}, {} cores, {}, {}\n", report["machine"]["processor"].get<std::string>(),
                        report["machine"]["cores"].get<int>(),
                        report["machine"]["file_system"].get<std::string>(),
                        report["machine"]["mpi"].get<std::string>());
    if (const auto cut = w["cut"].get<std::string>(); !cut.empty())
        text += "smaller than in the paper: " + cut + "\n";
    text += fmt::format("output of a step without computation: {:.4f} s\n\n",
                        m["output_seconds"].get<double>());
    std::vector<std::vector<std::string>> rows{{"output", "computing", "seconds", "x none",
                                                "hidden %", "speedup", "bound", "in calls", "close",
                                                "x pack", "MB/s", "CPU s", "peak MB", "waits", ""}};
    for (const Json& r : report["results"]) {
        const auto name = r["name"].get<std::string>();
        const auto compute = r["compute"].get<std::string>();
        if (r.contains("skipped")) {
            rows.push_back({name, compute, "", "", "", "", "", "", "", "", "", "", "", "",
                            "skipped: " + r["skipped"].get<std::string>()});
            continue;
        }
        const Json& hidden = r["hidden_fraction"];
        rows.push_back(
            {name, compute, number(r["total_seconds"], 3), number(r["ratio_to_no_output"], 3),
             hidden.is_number() ? fmt::format("{:.0f}", 100 * hidden.get<double>()) : "-",
             number(r["speedup"], 2), number(r["speedup_bound"], 2),
             number(r["library_seconds"], 3), number(r["close_seconds"], 3),
             number(r["library_to_pack"], 2), number(r["mb_per_s"], 0), number(r["cpu_seconds"], 2),
             fmt::format("{:.1f}", r["peak_bytes"].get<double>() / 1e6),
             number(r["queue_waits"], 0),
             r.contains("wrong") ? "WRONG: " + r["wrong"].get<std::string>() : ""});
    }
    return text + format_table(rows);
}

}  // namespace thalweg::bench
