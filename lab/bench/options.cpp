// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <CLI/CLI.hpp>
#include <map>

#include "registry.hpp"
#include "workload.hpp"

namespace thalweg::bench {
namespace {

std::string listing() {
    std::string text = "Workloads:\n";
    for (const Workload& w : workloads()) text += fmt_line(w.name, w.text);
    text += "\nMethods:\n";
    for (const MethodInfo& m : registered_methods()) text += fmt_line(m.name, m.text);
    return text;
}

}  // namespace

void add_workload_options(CLI::App& app, Options& options) {
    app.add_option("--grid", options.grid,
                   "Process grid, e.g. 8x2 (latitude x level), or 1d (default: near square)")
        ->group("Workload");
    const auto size = CLI::Range(std::int64_t{1}, std::int64_t{1} << 40);
    app.add_option("--nx", options.nx, "Length of the x dimension")->check(size)->group("Workload");
    app.add_option("--ny", options.ny, "Length of the y dimension")->check(size)->group("Workload");
    app.add_option("--nz", options.nz, "Length of the z dimension")->check(size)->group("Workload");
    app.add_option("--scale", options.scale,
                   "Horizontal size as a fraction of the paper's (default: that of the workload, "
                   "see --list)")
        ->check(CLI::Range(1e-6, 1e3))
        ->group("Workload");
    app.add_option("--variables,--species", options.variables,
                   "Number of variables of the main group")
        ->check(CLI::Range(1, 100000))
        ->group("Workload");
}

void add_measuring_options(CLI::App& app, Options& options) {
    app.add_option("-r,--repetitions", options.repetitions, "Measured repetitions")
        ->capture_default_str()
        ->check(CLI::Range(1, 100000));
    app.add_option("--warmup", options.warmup, "Unmeasured repetitions before them")
        ->capture_default_str()
        ->check(CLI::Range(0, 1000));

    app.add_option("-d,--dir", options.dir, "Directory for the files written")
        ->capture_default_str()
        ->group("Files");
    app.add_option("--json", options.json, "Write the results to this file")->group("Files");
    app.add_option("--format", options.format, "Classic format: cdf1, cdf2 or cdf5")
        ->capture_default_str()
        ->check(CLI::IsMember({"cdf1", "cdf2", "cdf5"}))
        ->group("Files");

    app.add_option_function<std::string>(
           "--put", [&options](const std::string& put) { options.copy_puts = put == "copy"; },
           "How the library gets the fields: deferred (it uses the model's arrays until the step "
           "ends, as PnetCDF's iput does) or copy")
        ->default_str(options.copy_puts ? "copy" : "deferred")
        ->check(CLI::IsMember({"deferred", "copy"}))
        ->group("Methods");
    app.add_option("--settings", options.settings,
                   "Additional settings of the library: \"name=value; ...\"")
        ->group("Methods");
    app.add_option_function<std::vector<std::string>>(
           "--hint",
           [&options](const std::vector<std::string>& hints) {
               for (const std::string& h : hints) {
                   const auto equals = h.find('=');
                   if (equals == std::string::npos || equals == 0)
                       throw UsageError("--hint " + h + ": not of the form name=value");
                   options.hints.emplace_back(h.substr(0, equals), h.substr(equals + 1));
               }
           },
           "MPI-IO hint name=value for the methods of other libraries (may be repeated)")
        ->group("Methods");

    app.add_option("--prewarm-gb", options.prewarm_gb,
                   "Write and delete this many GB at the start, so that memory has been touched "
                   "(default: 2, or twice what a repetition writes)")
        ->check(CLI::Range(0.0, 1e6))
        ->group("Measurement");
    app.add_option_function<std::string>(
           "--verify",
           [&options](const std::string& verify) {
               options.verify = verify == "none"    ? Verify::none
                                : verify == "first" ? Verify::first
                                                    : Verify::all;
           },
           "Check the files of the first repetition, of all, or of none")
        ->default_str("first")
        ->check(CLI::IsMember({"first", "all", "none"}))
        ->group("Measurement");
    app.add_option("--settle-ms", options.settle_ms, "Pause before each method, in milliseconds")
        ->capture_default_str()
        ->check(CLI::Range(0, 600000))
        ->group("Measurement");
    app.add_flag("--sync-between", options.sync_between, "Flush the file system between methods")
        ->group("Measurement");
    app.add_flag("--progress", options.progress,
                 "Show progress even if standard error is not a terminal")
        ->group("Output");
    app.add_flag("--table,!--no-table", options.table, "Print the table to standard output")
        ->group("Output");
}

Parsed parse(CLI::App& app, int argc, char** argv, std::string& text) {
    try {
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
        text = app.help();
        return Parsed::done;
    } catch (const CLI::ParseError& e) {
        throw UsageError(e.what());
    }
    return Parsed::run;
}

Parsed parse_options(int argc, char** argv, Options& options, std::string& text) {
    CLI::App app{"Measures how fast distributed fields reach one netCDF file, method by method."};
    app.name("thalweg-bench");
    app.footer(
        "\n\"thalweg-bench overlap\", \"read\", \"prefetch\" and \"irregular\" are other "
        "measurements: output during computation, reading, reading during computation, "
        "unstructured models.\n\n" +
        listing());
    app.get_formatter()->column_width(34);

    bool list = false;
    app.add_option("workload", options.workload, "The workload to write, e.g. fv-b (see below)");
    app.add_option("-m,--methods", options.methods,
                   "Methods, separated by commas; a method of the library can have settings: "
                   "NAME:setting=value:...")
        ->delimiter(',')
        ->default_str("raw,serial,direct,direct-nonblocking,netcdf4,slabs,record");
    app.add_option("-s,--steps", options.steps,
                   "Output steps per repetition (default: enough for 200 MB)")
        ->check(CLI::Range(1, 1000000));
    add_workload_options(app, options);
    add_measuring_options(app, options);

    app.add_flag("--keep", options.keep, "Keep the last file of each method, as WORKLOAD-METHOD.nc")
        ->group("Files");
    std::string chunk = "record";
    app.add_option("--raw-piece", options.raw_piece,
                   "Bytes per pwrite of method raw (default: all of a step)")
        ->check(CLI::Range(std::int64_t{4096}, std::int64_t{1} << 40))
        ->group("Methods");
    app.add_option(
           "--netcdf4-chunk", chunk,
           "Chunk shape of method netcdf4: one record of a variable, one level of it, or the "
           "library's default")
        ->capture_default_str()
        ->check(CLI::IsMember({"record", "level", "library"}))
        ->group("Methods");
    app.add_option("--deflate", options.deflate, "Compression level of the netCDF-4 methods")
        ->capture_default_str()
        ->check(CLI::Range(0, 9))
        ->group("Methods");
    app.add_flag("--shuffle", options.shuffle, "Use the shuffle filter in the netCDF-4 methods")
        ->group("Methods");
    app.add_flag("--durable", options.durable,
                 "Include an fsync of the file in the time of every method")
        ->group("Measurement");
    app.add_flag("--list", list, "List the workloads and methods")->group("Output");

    if (parse(app, argc, argv, text) == Parsed::done) return Parsed::done;
    if (list) {
        text = listing();
        return Parsed::done;
    }
    if (options.workload.empty()) throw UsageError("no workload given; --list prints them");
    if (options.methods.empty())
        options.methods = {"raw",     "serial", "direct", "direct-nonblocking",
                           "netcdf4", "slabs",  "record"};
    options.netcdf4_chunk = chunk == "record"  ? Chunk::record
                            : chunk == "level" ? Chunk::level
                                               : Chunk::library;
    return Parsed::run;
}

}  // namespace thalweg::bench
