// SPDX-License-Identifier: Apache-2.0
#include "reading.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstring>
#include <map>

#include "ground.hpp"
#include "machine.hpp"
#include "registry.hpp"
#include "table.hpp"

namespace thalweg::bench {
namespace {

using Json = nlohmann::ordered_json;

struct ReadRow {
    const ReadMethodInfo* info;
    std::unique_ptr<ReadMethod> method;
    std::vector<double> open, seconds, cpu;
    std::string wrong;
};

bool can_read(const ReadMethodInfo& method, const std::string& format) {
    return method.reads == Reads::all || (method.reads == Reads::netcdf4) == (format == "netcdf4");
}

const ReadMethodInfo& find_read_method(const std::string& name) {
    std::string names;
    for (const ReadMethodInfo& m : read_methods()) {
        if (m.name == name) return m;
        names += (names.empty() ? "" : ", ") + std::string(m.name);
    }
    throw UsageError("unknown method \"" + name + "\"; the methods are " + names);
}

void run_once(const RankGroup& rank_group, const std::string& path, ReadRow& row, bool measured) {
    double start = rank_group.start();
    row.method->open(path);
    const double open = rank_group.max(now() - start);
    start = rank_group.start();
    const double cpu_start = cpu_seconds();
    row.method->read();
    row.method->close();
    const double seconds = now() - start;
    const double cpu = cpu_seconds() - cpu_start;
    rank_group.wait();
    const double slowest = rank_group.max(seconds), sum = rank_group.sum(cpu);
    if (!measured) return;
    row.open.push_back(open);
    row.seconds.push_back(slowest);
    row.cpu.push_back(sum);
}

/// Returns the time of this row divided by that of another: the median over the repetitions.
double ratio(const ReadRow& row, const ReadRow* to) {
    if (to == nullptr) return 0;
    std::vector<double> ratios;
    for (std::size_t i = 0; i < row.seconds.size(); ++i)
        ratios.push_back(row.seconds[i] / to->seconds[i]);
    return median(ratios);
}

Json result(const ReadRow& row, const std::vector<ReadRow>& rows, const Problem& problem) {
    const auto find = [&](const char* name) -> const ReadRow* {
        for (const ReadRow& r : rows)
            if (std::strcmp(r.info->name, name) == 0) return &r;
        return nullptr;
    };
    Json r;
    r["workload"] = problem.workload().name;
    r["method"] = row.info->name;
    r["ranks"] = problem.ranks();
    r["grid"] = problem.grid();
    r["bytes"] = problem.step_bytes();
    r["seconds"] = median(row.seconds);
    r["seconds_min"] = *std::min_element(row.seconds.begin(), row.seconds.end());
    r["seconds_max"] = *std::max_element(row.seconds.begin(), row.seconds.end());
    r["open_seconds"] = median(row.open);
    r["cpu_seconds"] = median(row.cpu);
    r["ratio_to_raw"] = ratio(row, find("raw"));
    for (const char* peer : {"pnetcdf", "netcdf4"})
        if (const ReadRow* to = find(peer); to != nullptr)
            r[std::string("ratio_to_") + peer] = ratio(row, to);
    r["verified"] = row.info->fills && row.wrong.empty();
    if (!row.wrong.empty()) r["wrong"] = row.wrong;
    return r;
}

/// Measures all methods of reading on the ranks of `rank_group`.
Json measure_on(const RankGroup& rank_group, const Options& options, bool& good) {
    std::vector<ReadRow> rows;
    for (const std::string& name : options.methods)
        rows.push_back({&find_read_method(name), nullptr, {}, {}, {}, ""});
    Problem problem(options, rank_group.rank(), rank_group.ranks());
    const Ground ground(rank_group, options.dir);
    ground.prewarm(2 * problem.step_bytes());
    problem.fill();
    const Context context{rank_group.comm(), problem, options, 1};

    // The file has one record, which the library has written; it is in the page cache.
    const std::string path = ground.prefix() + "-restart";
    {
        const char* way = options.format == "netcdf4" ? "record-netcdf4" : "record";
        const auto writer = find_method(way).make(context);
        writer->open(path);
        writer->step(0);
        writer->close();
    }
    Fields fields(problem.memory_bytes());
    const Arrays arrays{problem, fields.data()};
    for (ReadRow& row : rows) row.method = row.info->make(context, arrays);
    for (int i = -options.warmup; i < options.repetitions; ++i) {
        for (ReadRow& row : rows) {
            const bool verifies = row.info->fills && options.verify != Verify::none &&
                                  (i == 0 || options.verify == Verify::all);
            if (verifies) fields.clear();
            run_once(rank_group, path, row, i >= 0);
            if (verifies && row.wrong.empty()) row.wrong = compare(rank_group, arrays, 0);
        }
    }
    ground.remove(path);

    Json results = Json::array();
    for (const ReadRow& row : rows) {
        results.push_back(result(row, rows, problem));
        good &= row.wrong.empty();
    }
    return results;
}

/// Adds the times divided by those with the first number of ranks.
void add_growth(Json& report) {
    if (!report.contains("results")) return;  // this rank did not take part
    for (Json& r : report["results"])
        for (const Json& first : report["results"]) {
            if (first.at("method") != r.at("method")) continue;
            r["growth"] = r.at("seconds").get<double>() / first.at("seconds").get<double>();
            break;
        }
}

}  // namespace

Parsed parse_read_options(int argc, char** argv, ReadOptions& all, std::string& text) {
    Options& options = all.base;
    CLI::App app{"Measures how fast a restart file is read into the arrays of a model's ranks."};
    app.name("thalweg-bench read");
    std::string methods = "\nMethods:\n";
    for (const ReadMethodInfo& m : read_methods()) methods += fmt_line(m.name, m.text);
    app.footer(methods);
    options.workload = "fv-d";
    app.add_option("workload", options.workload,
                   "The workload whose fields are read (see thalweg-bench --list)")
        ->capture_default_str();
    app.add_option("-m,--methods", options.methods, "Methods, separated by commas (default: all)")
        ->delimiter(',');
    app.add_option("--sweep", all.ranks,
                   "Numbers of ranks, separated by commas, each measured on its own while the "
                   "other ranks sleep (default: all that run)")
        ->delimiter(',')
        ->check(CLI::Range(1, 1000000));
    add_workload_options(app, options);
    add_measuring_options(app, options);
    app.remove_option(app.get_option("--format"));
    app.add_option("--format", options.format, "Format of the file")
        ->capture_default_str()
        ->check(CLI::IsMember({"cdf1", "cdf2", "cdf5", "netcdf4"}))
        ->group("Files");
    app.add_option("--deflate", options.deflate, "Compression level of a netCDF-4 file")
        ->capture_default_str()
        ->check(CLI::Range(0, 9))
        ->group("Files");
    app.add_flag("--shuffle", options.shuffle, "Use the shuffle filter in a netCDF-4 file")
        ->group("Files");
    if (parse(app, argc, argv, text) == Parsed::done) return Parsed::done;
    for (const std::string& name : options.methods)
        if (!can_read(find_read_method(name), options.format))
            throw UsageError("method \"" + name + "\" cannot read " + options.format);
    if (options.methods.empty())
        for (const ReadMethodInfo& m : read_methods())
            if (can_read(m, options.format)) options.methods.emplace_back(m.name);
    return Parsed::run;
}

Json measure_reading(const RankGroup& world, const ReadOptions& options, const Json& machine,
                     const std::string& command, bool& good) {
    std::vector<int> counts = options.ranks;
    if (counts.empty()) counts.push_back(world.ranks());
    std::int64_t bytes = 0;
    for (const int ranks : counts) {  // Check all options first, so that errors are thrown before
                                      // anything is measured.
        if (ranks > world.ranks())
            throw UsageError(
                fmt::format("{} ranks are running, but --sweep needs {}", world.ranks(), ranks));
        bytes = Problem(options.base, 0, ranks).step_bytes();
    }
    for (const std::string& name : options.base.methods) find_read_method(name);
    check_folder(world, options.base.dir, 2.1 * static_cast<double>(bytes));
    Json report;
    report["measurement"] = "read";
    report["date"] = date_now();
    report["command"] = command;
    report["machine"] = machine;
    for (const int ranks : counts) {
        MPI_Comm comm = MPI_COMM_NULL;
        MPI_Comm_split(world.comm(), world.rank() < ranks ? 0 : MPI_UNDEFINED, world.rank(), &comm);
        if (comm != MPI_COMM_NULL) {
            const RankGroup rank_group(comm);
            for (const Json& row : measure_on(rank_group, options.base, good))
                report["results"].push_back(row);
            MPI_Comm_free(&comm);
        }
        world.wait(20000);
    }
    add_growth(report);
    return report;
}

std::string reading_table(const Json& report) {
    std::vector<std::vector<std::string>> rows{{"ranks", "method", "seconds", "min", "max", "MB/s",
                                                "to raw", "to peer", "growth", "open", "CPU", ""}};
    for (const Json& r : report.at("results")) {
        const auto number = [&](const char* key) { return r.at(key).get<double>(); };
        rows.push_back(
            {fmt::format("{}", r.at("ranks").get<int>()), r.at("method"),
             fmt::format("{:.4f}", number("seconds")), fmt::format("{:.4f}", number("seconds_min")),
             fmt::format("{:.4f}", number("seconds_max")),
             fmt::format("{:.0f}", number("bytes") / number("seconds") / 1e6),
             fmt::format("{:.2f}", number("ratio_to_raw")),
             fmt::format("{:.2f}", r.contains("ratio_to_netcdf4")
                                       ? number("ratio_to_netcdf4")
                                       : r.value("ratio_to_pnetcdf", 0.0)),
             fmt::format("{:.2f}", number("growth")), fmt::format("{:.4f}", number("open_seconds")),
             fmt::format("{:.3f}", number("cpu_seconds")),
             r.contains("wrong") ? r.at("wrong").get<std::string>() : ""});
    }
    return format_table(rows);
}

}  // namespace thalweg::bench
