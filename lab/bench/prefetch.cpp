// SPDX-License-Identifier: Apache-2.0
#include "prefetch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "ground.hpp"
#include "input.hpp"
#include "machine.hpp"
#include "registry.hpp"
#include "table.hpp"

namespace thalweg::bench {
namespace {

using Json = nlohmann::ordered_json;

/// A way of reading. Record 0 is read before time is measured. In each step the model computes and
/// then takes the next record.
class Input {
public:
    virtual ~Input() = default;
    virtual void begin(const std::string& path, const Arrays& first, const Arrays& second) = 0;
    /// Fills the arrays of this step. The model has two sets of arrays, which it uses alternately.
    virtual void take(int step, const Arrays& arrays, const Arrays& next) = 0;
    virtual void end() = 0;
};

class NoInput : public Input {
public:
    void begin(const std::string&, const Arrays&, const Arrays&) override {}
    void take(int, const Arrays&, const Arrays&) override {}
    void end() override {}
};

/// Reads in the call, or ahead if the setting read_ahead permits it.
class Inline : public Input {
public:
    Inline(const Context& context, const std::string& settings) : input_(context, settings) {}
    void begin(const std::string& path, const Arrays& first, const Arrays&) override {
        input_.open(path);
        read(0, first);
    }
    void take(int step, const Arrays& arrays, const Arrays&) override { read(step, arrays); }
    void end() override { input_.close(); }

private:
    void read(int record, const Arrays& arrays) {
        input_.ask(record, arrays);
        input_.read();
    }
    LibraryInput input_;
};

/// Requests the next record before computing, into a second set of arrays.
class Prefetch : public Input {
public:
    Prefetch(const Context& context, const std::string& settings)
        : input_(context, settings), steps_(context.steps) {}
    void begin(const std::string& path, const Arrays& first, const Arrays& second) override {
        input_.open(path);
        input_.ask(0, first);
        input_.read();
        ask(1, second);
    }
    void take(int step, const Arrays&, const Arrays& next) override {
        input_.read();
        if (step < steps_) ask(step + 1, next);
    }
    void end() override { input_.close(); }

private:
    void ask(int record, const Arrays& arrays) {
        input_.ask(record, arrays);
        input_.prefetch();
    }
    LibraryInput input_;
    int steps_;
};

class Pnetcdf : public Input {
public:
    explicit Pnetcdf(const Context& context) : input_(context) {}
    void begin(const std::string& path, const Arrays& first, const Arrays&) override {
        input_.open(path);
        input_.read(0, first);
    }
    void take(int step, const Arrays& arrays, const Arrays&) override { input_.read(step, arrays); }
    void end() override { input_.close(); }

private:
    PnetcdfInput input_;
};

struct WayInfo {
    const char* name;
    const char* text;
};

const std::vector<WayInfo>& ways() {
    static const std::vector<WayInfo> table = {
        {"none", "no input; always measured"},
        {"inline", "one tw_read per step; always measured"},
        {"read_ahead", "the same with read_ahead=yes"},
        {"prefetch", "tw_prefetch of the next record before the computation of each step"},
        {"pnetcdf", "plain PnetCDF: every rank reads its block, one collective get per variable"},
    };
    return table;
}

std::unique_ptr<Input> make_input(const std::string& way, const Context& context) {
    const std::string settings =
        fmt::format("bandwidth={}; staging={}; {}", context.options.bandwidth,
                    2 * context.problem.step_bytes() / context.problem.ranks() + (1 << 20),
                    context.options.settings);
    if (way == "inline") return std::make_unique<Inline>(context, settings);
    if (way == "read_ahead")
        return std::make_unique<Inline>(context, "read_ahead=yes; " + settings);
    if (way == "prefetch") return std::make_unique<Prefetch>(context, settings);
    if (way == "pnetcdf") return std::make_unique<Pnetcdf>(context);
    return std::make_unique<NoInput>();
}

struct Row {
    std::string way;
    Computing computing;
    /// `input` is the time in the method's calls on the slowest rank, in seconds.
    std::vector<double> total, input, cpu;
    std::string wrong;
};

/// Returns a row's time divided by that of another: the median over the repetitions.
double ratio(const Row& row, const Row& to) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < row.total.size(); ++i) ratios.push_back(row.total[i] / to.total[i]);
    return median(ratios);
}

class Run {
public:
    Run(const RankGroup& rank_group, const PrefetchOptions& options)
        : rank_group_(rank_group),
          options_(options),
          base_(options.base),
          problem_(base_, rank_group.rank(), rank_group.ranks()),
          ground_(rank_group, base_.dir),
          first_(problem_.memory_bytes()),
          second_(problem_.memory_bytes()) {
        const std::int64_t bytes = problem_.step_bytes() * (base_.steps + 1);
        check_folder(rank_group, base_.dir, 1.1 * static_cast<double>(bytes));
        ground_.prewarm(bytes);
        problem_.fill();
        path_ = ground_.prefix() + "-forcing";
        const Context context{rank_group.comm(), problem_, base_, base_.steps + 1};
        const auto writer = find_method("record").make(context);
        writer->open(path_);
        for (int s = 0; s <= base_.steps; ++s) writer->step(s);
        writer->close();
    }
    ~Run() { ground_.remove(path_); }

    std::vector<Row> measure() {
        Row calibration{"inline", Computing::sleep, {}, {}, {}, ""};
        run_once(calibration, 0, false);
        run_once(calibration, 0, true);
        compute_seconds_ = options_.proportion * calibration.total[0] / base_.steps;
        rounds_ = calibrate_arithmetic(rank_group_);
        std::vector<Row> rows;
        for (const Computing computing : options_.computing)
            for (const std::string& way : options_.ways) {
                rows.emplace_back();
                rows.back().way = way;
                rows.back().computing = computing;
            }
        for (int i = -base_.warmup; i < base_.repetitions; ++i)
            for (Row& row : rows) run_once(row, compute_seconds_, i >= 0);
        return rows;
    }

    double compute_seconds() const { return compute_seconds_; }
    const Problem& problem() const { return problem_; }

private:
    void run_once(Row& row, double compute_seconds, bool measured) {
        const Context context{rank_group_.comm(), problem_, base_, base_.steps};
        const auto input = make_input(row.way, context);
        const Compute compute(row.computing, compute_seconds, rounds_);
        const Arrays arrays[2] = {{problem_, first_.data()}, {problem_, second_.data()}};
        input->begin(path_, arrays[0], arrays[1]);
        const double start = rank_group_.start(), cpu = cpu_seconds();
        double calls = 0;
        for (int s = 1; s <= base_.steps; ++s) {
            compute.run();
            const double begin = now();
            input->take(s, arrays[s % 2], arrays[(s + 1) % 2]);
            calls += now() - begin;
        }
        const double total = now() - start;
        const double cpu_used = cpu_seconds() - cpu;
        rank_group_.wait();
        input->end();
        if (row.way != "none" && row.wrong.empty() && base_.verify != Verify::none &&
            (base_.verify == Verify::all || row.total.empty()))
            row.wrong = compare(rank_group_, arrays[base_.steps % 2], base_.steps);
        const double slowest = rank_group_.max(total);
        const double longest = rank_group_.max(calls);
        const double all_cpu = rank_group_.sum(cpu_used);
        if (!measured) return;
        row.total.push_back(slowest);
        row.input.push_back(longest);
        row.cpu.push_back(all_cpu);
    }

    const RankGroup& rank_group_;
    const PrefetchOptions& options_;
    const Options& base_;
    Problem problem_;
    const Ground ground_;
    Fields first_, second_;
    std::string path_;
    double compute_seconds_ = 0, rounds_ = 0;
};

}  // namespace

Parsed parse_prefetch_options(int argc, char** argv, PrefetchOptions& options, std::string& text) {
    CLI::App app{
        "Measures how much of the reading overlaps with a model's computation. A step is "
        "computation without messages, and the reading of the next record of a file."};
    app.name("thalweg-bench prefetch");
    std::string listing = "\nWays:\n";
    for (const WayInfo& w : ways()) listing += fmt_line(w.name, w.text);
    app.footer(listing);
    Options& base = options.base;
    base.workload = "fv-c";
    base.steps = 8;
    base.repetitions = 3;
    base.bandwidth = 500'000'000;
    std::vector<std::string> names;
    std::string compute = "both";
    app.add_option("workload", base.workload,
                   "The workload whose fields are read (see thalweg-bench --list)")
        ->capture_default_str();
    app.add_option("-s,--steps", base.steps, "Steps")
        ->capture_default_str()
        ->check(CLI::Range(1, 1000000));
    app.add_option("--ways", names, "Ways, separated by commas (default: all)")->delimiter(',');
    app.add_option("--compute", compute, "Kind of computation: sleep, arithmetic or both")
        ->capture_default_str()
        ->check(CLI::IsMember({"sleep", "arithmetic", "both"}));
    app.add_option("--proportion", options.proportion,
                   "Time of a step's computation, as a multiple of the time of reading it inline")
        ->capture_default_str()
        ->check(CLI::Range(0.0, 1e6));
    app.add_option("--bandwidth", base.bandwidth,
                   "Limit in bytes per second for all readers together (500MB, 2GiB); 0: no limit")
        ->capture_default_str()
        ->transform(CLI::AsSizeValue(true));
    add_workload_options(app, base);
    add_measuring_options(app, base);
    if (parse(app, argc, argv, text) == Parsed::done) return Parsed::done;
    for (const std::string& name : names)
        if (std::none_of(ways().begin(), ways().end(),
                         [&](const WayInfo& w) { return name == w.name; }))
            throw UsageError("--ways " + name + ": unknown way");
    for (const WayInfo& w : ways()) {
        const std::string name = w.name;
        if (names.empty() || name == "none" || name == "inline" ||
            std::find(names.begin(), names.end(), name) != names.end())
            options.ways.push_back(name);
    }
    if (compute != "arithmetic") options.computing.push_back(Computing::sleep);
    if (compute != "sleep") options.computing.push_back(Computing::arithmetic);
    return Parsed::run;
}

Json measure_prefetch(const RankGroup& rank_group, const PrefetchOptions& options,
                      const Json& machine, const std::string& command, bool& good) {
    Run run(rank_group, options);
    const std::vector<Row> rows = run.measure();
    Json report;
    report["measurement"] = "prefetch";
    report["date"] = date_now();
    report["command"] = command;
    report["machine"] = machine;
    report["bandwidth"] = options.base.bandwidth;
    report["compute_seconds"] = run.compute_seconds();
    const std::size_t a_group = options.ways.size();
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Row& row = rows[i];
        const Row& none = rows[i / a_group * a_group];
        Json r;
        r["workload"] = run.problem().workload().name;
        r["name"] = row.way;
        r["compute"] = name_of(row.computing);
        r["ranks"] = run.problem().ranks();
        r["steps"] = options.base.steps;
        r["bytes"] = run.problem().step_bytes() * options.base.steps;
        r["total_seconds"] = median(row.total);
        r["input_seconds"] = median(row.input);
        r["cpu_seconds"] = median(row.cpu);
        r["ratio_to_no_input"] = ratio(row, none);
        r["ratio_to_inline"] = ratio(row, rows[i / a_group * a_group + 1]);
        r["verified"] =
            row.way != "none" && options.base.verify != Verify::none && row.wrong.empty();
        if (!row.wrong.empty()) r["wrong"] = row.wrong;
        good &= row.wrong.empty();
        report["results"].push_back(r);
    }
    return report;
}

std::string prefetch_table(const Json& report) {
    std::vector<std::vector<std::string>> rows{
        {"input", "computing", "seconds", "to no input", "to inline", "in calls", "CPU", ""}};
    for (const Json& r : report.at("results")) {
        const auto number = [&](const char* key) { return r.at(key).get<double>(); };
        rows.push_back({r.at("name"), r.at("compute"),
                        fmt::format("{:.3f}", number("total_seconds")),
                        fmt::format("{:.3f}", number("ratio_to_no_input")),
                        fmt::format("{:.3f}", number("ratio_to_inline")),
                        fmt::format("{:.3f}", number("input_seconds")),
                        fmt::format("{:.3f}", number("cpu_seconds")),
                        r.contains("wrong") ? r.at("wrong").get<std::string>() : ""});
    }
    return fmt::format("computation {:.3f} s per step\n",
                       report.at("compute_seconds").get<double>()) +
           format_table(rows);
}

}  // namespace thalweg::bench
