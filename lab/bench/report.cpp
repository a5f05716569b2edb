// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <sstream>

#include "fields/ground.hpp"

namespace thalweg::bench {
namespace {

using Json = nlohmann::ordered_json;

/// A ratio to another row, by a figure.
struct Ratio {
    const char* key;    ///< in the report
    const char* other;  ///< name of the other row
    const char* figure;
};

/// A column of a table.
struct Column {
    const char* heading;
    const char* key;  ///< in the report; with a slash: key in an object
    int digits;
    double factor = 1;
};

/// The main figure of a measurement, the ratios, and the columns of its table.
struct View {
    const char* main;
    std::vector<Ratio> ratios;
    std::vector<Column> columns;
};

const View& view_of(Mode mode) {
    static const std::vector<Ratio> to_raw{{"ratio_to_raw", "raw", "seconds"}};
    static const View writing{"seconds",
                              to_raw,
                              {{"MB", "bytes", 1, 1e-6},
                               {"seconds", "median_seconds", 3},
                               {"open", "phases/open", 3},
                               {"put", "phases/put", 3},
                               {"remap", "phases/remap", 3},
                               {"wait", "phases/wait", 3},
                               {"write", "phases/write", 3},
                               {"close", "phases/close", 3},
                               {"MB/s", "mb_per_s", 0},
                               {"x raw", "ratio_to_raw", 2},
                               {"CPU s", "cpu_seconds", 2},
                               {"switches", "switches_per_step", 0},
                               {"most", "most_switches_per_step", 0},
                               {"peak MB", "peak_bytes", 1, 1e-6}}};
    static const View irregular{
        "seconds",
        {{"ratio_to_raw", "raw", "seconds"},
         {"ratio_to_box", "box", "seconds"},
         {"ratio_to_varn", "pnetcdf-varn", "seconds"},
         {"ratio_to_varn_nonblocking", "pnetcdf-varn-nonblocking", "seconds"}},
        {{"seconds", "median_seconds", 4},
         {"MB/s", "mb_per_s", 0},
         {"x raw", "ratio_to_raw", 2},
         {"x box", "ratio_to_box", 2},
         {"x varn", "ratio_to_varn", 3},
         {"x nonbl.", "ratio_to_varn_nonblocking", 3},
         {"open", "open_seconds", 4},
         {"set-up", "setup_seconds", 4},
         {"CPU s", "cpu_seconds", 2},
         {"peak MB", "peak_bytes", 1, 1e-6}}};
    static const View pio{"seconds",
                          {{"closed_to_thalweg", "thalweg", "seconds"},
                           {"closed_to_raw", "raw", "seconds"},
                           {"calls_to_thalweg", "thalweg", "library_seconds"},
                           {"calls_to_pack", "pack", "library_seconds"}},
                          {{"set-up", "setup_seconds", 4},
                           {"open", "open_seconds", 4},
                           {"calls", "library_seconds", 4},
                           {"closed", "median_seconds", 4},
                           {"MB/s", "mb_per_s", 0},
                           {"calls x tw", "calls_to_thalweg", 2},
                           {"x tw", "closed_to_thalweg", 2},
                           {"x raw", "closed_to_raw", 2},
                           {"calls x pack", "calls_to_pack", 2}}};
    static const View reading{"seconds",
                              {{"ratio_to_raw", "raw", "seconds"},
                               {"ratio_to_pnetcdf", "pnetcdf", "seconds"},
                               {"ratio_to_netcdf4", "netcdf4", "seconds"}},
                              {{"seconds", "median_seconds", 4},
                               {"min", "min_seconds", 4},
                               {"max", "max_seconds", 4},
                               {"MB/s", "mb_per_s", 0},
                               {"x raw", "ratio_to_raw", 2},
                               {"x PnetCDF", "ratio_to_pnetcdf", 2},
                               {"x netCDF-4", "ratio_to_netcdf4", 2},
                               {"open", "open_seconds", 4},
                               {"CPU s", "cpu_seconds", 3}}};
    static const View prefetch{"total_seconds",
                               {{"ratio_to_no_input", "none", "total_seconds"},
                                {"ratio_to_inline", "inline", "total_seconds"}},
                               {{"seconds", "total_seconds", 3},
                                {"x none", "ratio_to_no_input", 3},
                                {"x inline", "ratio_to_inline", 3},
                                {"in calls", "library_seconds", 3},
                                {"CPU s", "cpu_seconds", 3}}};
    static const View overlap{"total_seconds",
                              {{"ratio_to_no_output", "none", "total_seconds"},
                               {"library_to_pack", "pack", "library_seconds"}},
                              {{"seconds", "total_seconds", 3},
                               {"x none", "ratio_to_no_output", 3},
                               {"hidden %", "hidden_fraction", 0, 100},
                               {"speedup", "speedup", 2},
                               {"bound", "speedup_bound", 2},
                               {"in calls", "library_seconds", 3},
                               {"close", "close_seconds", 3},
                               {"x pack", "library_to_pack", 2},
                               {"MB/s", "mb_per_s", 0},
                               {"CPU s", "cpu_seconds", 2},
                               {"peak MB", "peak_bytes", 1, 1e-6},
                               {"waits", "queue_waits", 0}}};
    switch (mode) {
        case Mode::irregular: return irregular;
        case Mode::pio: return pio;
        case Mode::read: return reading;
        case Mode::prefetch: return prefetch;
        case Mode::overlap: return overlap;
        default: return writing;
    }
}

const Row* find(const Measurement& m, const Row& row, const std::string& name) {
    const auto other = std::find_if(m.rows.begin(), m.rows.end(), [&](const Row& r) {
        return r.name == name && r.which == row.which && r.computing == row.computing &&
               !r.samples.empty();
    });
    return other == m.rows.end() ? nullptr : &*other;
}

/// Returns the values of f for this row's and other rows' times in the same repetition.
template <class F, class... Others>
std::vector<double> paired(const char* figure, const Row& row, F f, const Others&... others) {
    const std::vector<double>& own = row.samples.at(figure);
    const std::size_t n = std::min({own.size(), others.samples.at(figure).size()...});
    std::vector<double> values;
    for (std::size_t i = 0; i < n; ++i)
        values.push_back(f(own[i], others.samples.at(figure)[i]...));
    return values;
}

double smallest(const std::vector<double>& v) { return *std::min_element(v.begin(), v.end()); }
double largest(const std::vector<double>& v) { return *std::max_element(v.begin(), v.end()); }

/// Adds how much of the output is hidden behind computing.
void add_hidden(Json& r, const Measurement& m, const Row& row) {
    const Row* none = find(m, row, "none");
    const Row* in_call = find(m, row, "inline");
    if (none == nullptr || in_call == nullptr) return;
    const char* const t = "total_seconds";
    const bool computes = m.compute_seconds > 0,
               output = row.service != "none" && row.service != "pack";
    const auto known = [](bool is, const std::vector<double>& values) {
        return is ? Json(median(values)) : Json();
    };
    if (!computes) r["ratio_to_no_output"] = nullptr;
    r["pack_seconds"] = find(m, row, "pack")
                            ? Json(median(find(m, row, "pack")->samples.at("library_seconds")))
                            : Json();
    r["io_seconds"] = median(paired(
        t, row, [](double a, double b) { return a - b; }, *none));
    r["hidden_fraction"] =
        known(computes && row.service != "none",
              paired(
                  t, row, [](double a, double b, double c) { return 1 - (a - b) / (c - b); }, *none,
                  *in_call));
    r["speedup"] = known(output, paired(
                                     t, row, [](double a, double c) { return c / a; }, *in_call));
    r["speedup_bound"] = known(computes && output,
                               paired(
                                   t, *none, [](double b, double c) { return c / b; }, *in_call));
}

Json result(const Measurement& m, const Row& row, const Options& options) {
    const View& view = view_of(options.mode);
    const Case& c = m.cases[row.which];
    const bool overlap = options.mode == Mode::overlap;
    Json r;
    r["workload"] = c.workload.name;
    if (options.mode == Mode::irregular) r["map"] = c.workload.name;
    if (overlap || options.mode == Mode::prefetch) r["name"] = row.name;
    r["method"] = row.name;
    r["ranks"] = m.ranks;
    r["library"] = row.method.library;
    r["settings"] = row.settings;
    if (overlap) {
        r["service"] = row.service;
        r["servers"] = row.servers;
        r["storage"] = row.method.storage;
    }
    if (!row.computing.empty()) r["compute"] = m.compute_seconds > 0 ? row.computing : "none";
    if (!row.error.empty()) {
        r["error"] = row.error;
        if (!row.wrong.empty()) r["wrong"] = row.wrong;
        return r;
    }
    const std::vector<double>& times = row.samples.at(view.main);
    const bool output = row.service != "none" && row.service != "pack";
    const double bytes = output ? static_cast<double>(c.step_bytes) * c.steps : 0;
    r["steps"] = c.steps;
    r["bytes"] = static_cast<std::int64_t>(bytes);
    r["median_seconds"] = median(times);
    r["min_seconds"] = smallest(times);
    r["max_seconds"] = largest(times);
    r["mb_per_s"] = bytes / 1e6 / median(times);
    for (const auto& [name, values] : row.samples) {
        const double value = name.starts_with("peak") ? largest(values) : median(values);
        if (name.starts_with("phase_"))
            r["phases"][name.substr(6)] = value;
        else
            r[name] = value;
    }
    if (!r.contains("messages")) r["messages"] = nullptr;
    for (const Ratio& ratio : view.ratios) {
        const Row* other = find(m, row, ratio.other);
        const auto values =
            other == nullptr
                ? std::vector<double>()
                : paired(
                      ratio.figure, row, [](double a, double b) { return a / b; }, *other);
        if (values.empty()) continue;
        r[ratio.key] = median(values);
        if (options.mode != Mode::write) continue;
        r[std::string("min_") + ratio.key] = smallest(values);
        r[std::string("max_") + ratio.key] = largest(values);
    }
    if (overlap) add_hidden(r, m, row);
    for (const char* waits : {"queue_waits", "queue_wait_seconds"})
        if (overlap && !r.contains(waits)) r[waits] = nullptr;
    for (const auto& [name, value] : row.facts.items()) r[name] = value;
    if (options.verify != Verify::none) r["verified"] = row.verified;
    if (!row.wrong.empty()) r["wrong"] = row.wrong;
    r["repetitions"] = times;
    return r;
}

Json describe(const Case& c, const Options& options, int ranks) {
    const Workload& w = c.workload;
    Json dims, grid = process_grid(w, options.grid, ranks);
    std::string text;
    for (const Dimension& d : w.dims) dims[d.name] = d.length;
    for (std::size_t a = 0; a < grid.size(); ++a)
        text += fmt::format("{}{} {}", a == 0 ? "" : " x ", grid[a].get<int>(), w.axes[a].front());
    int variables = 0;
    for (const VariableGroup& g : w.groups) variables += g.count;
    Json found{
        {"name", w.name},         {"text", w.text}, {"cut", w.cut}, {"dimensions", dims},
        {"variables", variables}, {"ranks", ranks}, {"grid", text}, {"step_bytes", c.step_bytes},
        {"steps", c.steps}};
    if (options.mode == Mode::irregular) {
        std::int64_t elements = 1;
        for (const Dimension& d : w.dims) elements *= d.length;
        found["elements"] = elements;
        found["held"] = static_cast<std::int64_t>(c.held);
        found["pieces"] = static_cast<std::int64_t>(c.pieces);
    }
    return found;
}

/// Formats a table: the first columns to the left, the others to the right, the last one to the
/// left.
std::string format_table(const std::vector<std::vector<std::string>>& rows, std::size_t left) {
    std::vector<std::size_t> widths(rows.front().size(), 0);
    for (const auto& row : rows)
        for (std::size_t c = 0; c + 1 < row.size(); ++c)
            widths[c] = std::max(widths[c], row[c].size());
    std::string text;
    for (const auto& row : rows) {
        std::string line;
        for (std::size_t c = 0; c < row.size(); ++c)
            line += c < left || c + 1 == row.size() ? fmt::format("{:<{}}  ", row[c], widths[c])
                                                    : fmt::format("{:>{}}  ", row[c], widths[c]);
        text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    return text;
}

}  // namespace

double median(std::vector<double> values) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    const std::size_t n = values.size();
    return n % 2 != 0 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

Json report_json(const Json& machine, const Options& options, const Measurement& m,
                 const std::string& command) {
    Json report;
    report["program"] = "thalweg-bench";
    report["date"] = date_now();
    report["command"] = command;
    report["machine"] = machine;
    report["workload"] = describe(m.cases.front(), options, m.ranks);
    report["measurement"] = {
        {"repetitions", options.repetitions},
        {"warmup", options.warmup},
        {"seconds",
         "steps with the close, without computing, slowest rank, from a common start; open apart"},
        {"total_seconds", "the same with computing"},
        {"ratios", "medians of the ratios in the same repetition"},
        {"hidden_fraction", "1 - (total - total without output) / (inline - without output)"},
        {"speedup", "inline / total; its bound: inline / without output"},
        {"peak_bytes", "growth over the fields, largest rank, shared pages divided by users"},
        {"compute_seconds", m.compute_seconds},
        {"output_seconds", m.output_seconds},
        {"bandwidth", options.bandwidth},
        {"serial_bandwidth", options.serial_bandwidth},
        {"durable", options.durable},
        {"put", options.copy_puts ? "copy" : "deferred"},
        {"format", options.format},
        {"settings", options.settings}};
    if (options.mode == Mode::irregular)
        for (const Case& c : m.cases) report["maps"].push_back(describe(c, options, m.ranks));
    report["results"] = Json::array();
    for (const Row& row : m.rows) report["results"].push_back(result(m, row, options));
    return report;
}

std::string report_table(const Json& report, const Options& options) {
    const Json& machine = report["machine"];
    const View& view = view_of(options.mode);
    const auto text_of = [](const Json& value) { return value.get<std::string>(); };
    std::string text =
        fmt::format("{}, {} cores, {}, {}; medians of {} repetitions\n",
                    text_of(machine["processor"]), machine["cores"].get<int>(),
                    text_of(machine["file_system"]), text_of(machine["mpi"]), options.repetitions);
    if (const double seconds = report["measurement"]["compute_seconds"]; seconds > 0)
        text += fmt::format("{:.3f} s of computation in a step\n", seconds);
    if (options.bandwidth > 0)
        text += fmt::format("{:.0f} MB/s at most\n", static_cast<double>(options.bandwidth) / 1e6);
    const Json cases = report.contains("maps") ? report["maps"] : Json::array({report["workload"]});
    for (const Json& w : cases) {
        const int ranks = w["ranks"];
        const double mb = w["step_bytes"].get<double>() * w["steps"].get<double>() / 1e6;
        text += fmt::format("\n{}: {} variables, {:.1f} MB in {} step{}, {} rank{} ({})\n",
                            text_of(w["name"]), w["variables"].get<int>(), mb,
                            w["steps"].get<int>(), w["steps"] == 1 ? "" : "s", ranks,
                            ranks == 1 ? "" : "s", text_of(w["grid"]));
        if (!text_of(w["cut"]).empty())
            text += "smaller than in the paper: " + text_of(w["cut"]) + "\n";
        if (w.contains("held"))
            text += fmt::format("{}; {} elements held in {} pieces\n", text_of(w["text"]),
                                w["held"].get<std::int64_t>(), w["pieces"].get<std::int64_t>());
        const bool computes =
            !report["results"].empty() && report["results"][0].contains("compute");
        std::vector<std::vector<std::string>> rows{{"method"}};
        if (computes) rows[0].push_back("computing");
        for (const Column& column : view.columns) rows[0].push_back(column.heading);
        rows[0].push_back("");
        for (const Json& r : report["results"]) {
            if (r["workload"] != w["name"]) continue;
            std::vector<std::string> row{r["method"]};
            if (r.contains("name")) row[0] = r["name"];
            if (computes) row.push_back(r["compute"]);
            for (const Column& column : view.columns) {
                const Json::json_pointer at("/" + std::string(column.key));
                const bool known = !r.contains("error") && r.contains(at) && r[at].is_number();
                row.push_back(known ? fmt::format("{:.{}f}", r[at].get<double>() * column.factor,
                                                  column.digits)
                              : r.contains("error") ? ""
                                                    : "-");
            }
            row.push_back(r.contains("error")   ? "not measured: " + text_of(r["error"])
                          : r.contains("wrong") ? "WRONG: " + text_of(r["wrong"])
                                                : "");
            rows.push_back(row);
        }
        text += "\n" + format_table(rows, computes ? 2 : 1);
    }
    return text;
}

}  // namespace thalweg::bench
