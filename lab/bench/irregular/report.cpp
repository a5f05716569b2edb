// SPDX-License-Identifier: Apache-2.0
#include "irregular/report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "machine.hpp"
#include "table.hpp"

namespace thalweg::bench::irregular {
namespace {

using Json = nlohmann::ordered_json;

std::vector<double> all(const Row& row, double Sample::*figure) {
    std::vector<double> values;
    for (const Sample& s : row.samples) values.push_back(s.*figure);
    return values;
}

/// Returns a row's time divided by that of another: the median over the repetitions that both have.
Json ratio(const MapResult& map, const Row& row, const char* name) {
    const auto other = std::find_if(map.rows.begin(), map.rows.end(),
                                    [&](const Row& r) { return r.info.name == name; });
    if (other == map.rows.end() || other->samples.empty()) return nullptr;
    const std::vector<double> a = all(row, &Sample::seconds), b = all(*other, &Sample::seconds);
    if (a.size() != b.size()) return median(a) / median(b);
    std::vector<double> ratios;
    for (std::size_t i = 0; i < a.size(); ++i) ratios.push_back(a[i] / b[i]);
    return median(ratios);
}

Json result(const MapResult& map, const Row& row, const Measurement& measurement) {
    Json r;
    r["map"] = map.name;
    r["method"] = row.info.name;
    r["ranks"] = measurement.ranks;
    r["library"] = row.info.library;
    r["settings"] = row.info.settings;
    r["share"] = row.share;
    if (!row.error.empty()) {
        r["error"] = row.error;
        return r;
    }
    const std::vector<double> seconds = all(row, &Sample::seconds);
    r["bytes"] = map.bytes();
    r["file_bytes"] = row.file_bytes;
    r["median_seconds"] = median(seconds);
    r["min_seconds"] = *std::min_element(seconds.begin(), seconds.end());
    r["max_seconds"] = *std::max_element(seconds.begin(), seconds.end());
    r["mb_per_s"] = static_cast<double>(map.bytes()) / 1e6 / median(seconds);
    r["open_seconds"] = median(all(row, &Sample::open_seconds));
    r["setup_seconds"] = median(row.set_up_seconds);
    r["setup_cpu_seconds"] = median(row.set_up_cpu);
    std::vector<double> bytes(row.set_up_bytes.begin(), row.set_up_bytes.end());
    r["setup_bytes"] = static_cast<std::int64_t>(median(bytes));
    r["setup_bytes_to_list"] =
        row.set_up_to_list.empty() ? Json() : Json(median(row.set_up_to_list));
    r["kept_bytes_to_list"] = row.set_up_to_list.empty() ? Json() : Json(row.kept_to_list);
    r["ratio_to_raw"] = ratio(map, row, "raw");
    r["ratio_to_box"] = ratio(map, row, "box");
    r["ratio_to_varn"] = ratio(map, row, "pnetcdf-varn");
    r["ratio_to_varn_nonblocking"] = ratio(map, row, "pnetcdf-varn-nonblocking");
    r["cpu_seconds"] = median(all(row, &Sample::cpu_seconds));
    r["peak_bytes"] = row.peak_bytes;
    r["verified"] = row.verified;
    if (!row.wrong.empty()) r["wrong"] = row.wrong;
    if (!row.details.empty()) r["details"] = Json::parse(row.details);
    r["repetitions"] = seconds;
    return r;
}

std::string number(const Json& value, int digits) {
    return value.is_number() ? fmt::format("{:.{}f}", value.get<double>(), digits) : "-";
}

}  // namespace

Json report_json(const Json& machine, const IrregularOptions& options,
                 const Measurement& measurement, const std::string& command) {
    Json report;
    report["program"] = "thalweg-bench irregular";
    report["date"] = date_now();
    report["command"] = command;
    report["machine"] = machine;
    report["measurement"] = {
        {"ranks", measurement.ranks},
        {"repetitions", options.base.repetitions},
        {"warmup", options.base.warmup},
        {"time", "output steps with the close, slowest rank, from a common start; open apart"},
        {"ratios", "medians of the ratios in the same repetition"},
        {"put", options.base.copy_puts ? "copy" : "deferred"},
        {"format", options.base.format},
        {"settings", options.base.settings},
        {"seed", options.seed},
        {"patience", options.patience},
        {"peak_bytes", measurement.peaks_reset
                           ? "growth over the fields and lists, from describing them to the first "
                             "file's close, largest rank, shared pages divided by users"
                           : "of the whole run: the system did not permit to reset it"}};
    report["maps"] = Json::array();
    report["results"] = Json::array();
    for (const MapResult& map : measurement.maps) {
        Json m{{"name", map.name}, {"text", map.text}};
        for (const Dim& dim : map.dims)
            m["dims"].push_back({{"name", dim.name}, {"length", dim.length}});
        m["elements"] = map.elements();
        m["held"] = map.held;
        m["pieces"] = map.pieces;
        m["variables"] = map.variables;
        m["steps"] = map.steps;
        report["maps"].push_back(m);
        for (const Row& row : map.rows) report["results"].push_back(result(map, row, measurement));
    }
    return report;
}

std::string report_table(const Json& report) {
    const Json& machine = report["machine"];
    std::string text = fmt::format(
        "{} ranks, medians of {} repetitions; {}, {} cores, {}, {}\n",
        report["measurement"]["ranks"].get<int>(), report["measurement"]["repetitions"].get<int>(),
        machine["processor"].get<std::string>(), machine["cores"].get<int>(),
        machine["file_system"].get<std::string>(), machine["mpi"].get<std::string>());
    for (const Json& map : report["maps"]) {
        const auto name = map["name"].get<std::string>();
        std::string shape;
        for (const Json& dim : map["dims"])
            shape += fmt::format("{}{} {}", shape.empty() ? "" : ", ",
                                 dim["name"].get<std::string>(), dim["length"].get<std::int64_t>());
        const auto held = map["held"].get<std::int64_t>(),
                   pieces = map["pieces"].get<std::int64_t>();
        text += fmt::format(
            "\n{}: {}; {}; {} elements held in {} pieces, {:.1f} each; {} variables, {} step{}\n",
            name, map["text"].get<std::string>(), shape, held, pieces,
            static_cast<double>(held) / static_cast<double>(std::max<std::int64_t>(1, pieces)),
            map["variables"].get<int>(), map["steps"].get<int>(), map["steps"] == 1 ? "" : "s");
        std::vector<std::vector<std::string>> rows{
            {"method", "share", "seconds", "MB/s", "x raw", "x box", "x varn", "x nonbl.", "open",
             "set-up", "set-up CPU", "list x", "kept x", "CPU s", "peak MB", ""}};
        for (const Json& r : report["results"]) {
            if (r["map"] != name) continue;
            std::vector<std::string> row{r["method"], r["share"]};
            if (r.contains("error")) {
                row.resize(rows[0].size() - 1);
                row.push_back("not measured: " + r["error"].get<std::string>());
            } else {
                row.insert(
                    row.end(),
                    {number(r["median_seconds"], 4), number(r["mb_per_s"], 0),
                     number(r["ratio_to_raw"], 2), number(r["ratio_to_box"], 2),
                     number(r["ratio_to_varn"], 3), number(r["ratio_to_varn_nonblocking"], 3),
                     number(r["open_seconds"], 4), number(r["setup_seconds"], 4),
                     number(r["setup_cpu_seconds"], 3), number(r["setup_bytes_to_list"], 2),
                     number(r["kept_bytes_to_list"], 2), number(r["cpu_seconds"], 2),
                     number(r["peak_bytes"].get<double>() / 1e6, 1),
                     r.contains("wrong") ? "WRONG: " + r["wrong"].get<std::string>() : ""});
            }
            rows.push_back(row);
        }
        text += format_table(rows);
    }
    return text;
}

}  // namespace thalweg::bench::irregular
