// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

namespace thalweg::bench {
namespace {

const std::map<std::string, Mode> modes{{"read", Mode::read},       {"prefetch", Mode::prefetch},
                                        {"overlap", Mode::overlap}, {"irregular", Mode::irregular},
                                        {"pio", Mode::pio},         {"history", Mode::history}};

void set_defaults(Options& o) {
    switch (o.mode) {
        case Mode::read: o.workload = "fv-d"; break;
        case Mode::prefetch:
            o.workload = "fv-c";
            o.steps = 8;
            o.repetitions = 3;
            o.bandwidth = 500'000'000;
            break;
        case Mode::overlap:
            o.workload = "cfio-2";
            o.steps = 20;
            o.warmup = 0;  // each session writes a short file first
            o.copy_puts = true;
            o.bandwidth = 500'000'000;
            o.ranks = 4;
            o.services = {"background", "servers:1", "servers:2"};
            o.peers = {"peer-pnetcdf", "peer-pnetcdf-nonblocking"};
            break;
        case Mode::pio: o.compute_seconds = 0; break;
        case Mode::history: o.repetitions = 15; break;
        default: break;
    }
    o.computing = {"sleep", "arithmetic"};
}

}  // namespace

std::string parse_options(int argc, char** argv, Options& o) {
    const auto mode = argc > 1 ? modes.find(argv[1]) : modes.end();
    const bool write = mode == modes.end();
    if (!write) o.mode = mode->second;
    set_defaults(o);
    CLI::App app{
        "Measures how fast distributed fields reach one netCDF file, method by method. The first "
        "word can be another measurement: overlap, read, prefetch, irregular, pio, history."};
    app.name(write ? "thalweg-bench" : "thalweg-bench " + mode->first);
    app.get_formatter()->column_width(34);
    const auto many = CLI::Range(1, 1000000);
    const auto size = CLI::Range(std::int64_t{1}, std::int64_t{1} << 40);
    std::string verify = "first", put = o.copy_puts ? "copy" : "deferred";
    if (o.mode != Mode::irregular && o.mode != Mode::history)
        app.add_option("workload", o.workload, "The workload, e.g. fv-b (see --list)")
            ->capture_default_str();
    app.add_option("-m,--methods,--ways", o.methods,
                   "Methods, separated by commas; a method of the library can have settings: "
                   "NAME:setting=value:... (default: the usual ones)")
        ->delimiter(',');
    app.add_option("-s,--steps", o.steps,
                   "Output steps per repetition (default: enough for 200 MB)")
        ->check(many);
    app.add_option("-r,--repetitions", o.repetitions, "Measured repetitions")
        ->capture_default_str()
        ->check(many);
    app.add_option("--warmup", o.warmup, "Unmeasured repetitions before them")
        ->capture_default_str();
    app.add_option("--grid", o.grid,
                   "Process grid, e.g. 8x2 (latitude x level), or 1d (default: near square)");
    app.add_option("--nx", o.nx, "Length of the x dimension")->check(size);
    app.add_option("--ny", o.ny, "Length of the y dimension")->check(size);
    app.add_option("--nz", o.nz, "Length of the z dimension")->check(size);
    app.add_option("--scale", o.scale,
                   "Horizontal size as a fraction of the paper's (default: that of the workload, "
                   "see --list)")
        ->check(CLI::Range(1e-6, 1e3));
    app.add_option("--variables,--species,--fields", o.variables,
                   "Number of variables of the main group")
        ->check(many);
    app.add_option("-d,--dir", o.dir, "Directory for the files written")->capture_default_str();
    app.add_option("--json", o.json, "Write the results to this file");
    app.add_option("--format", o.format, "Format: cdf1, cdf2 or cdf5; read: also netcdf4")
        ->capture_default_str()
        ->check(CLI::IsMember({"cdf1", "cdf2", "cdf5", "netcdf4"}));
    app.add_option(
           "--put", put,
           "How the library gets the fields: deferred (it uses the model's arrays until the step "
           "ends, as PnetCDF's iput does) or copy")
        ->capture_default_str()
        ->check(CLI::IsMember({"deferred", "copy"}));
    app.add_option("--settings", o.settings,
                   "Additional settings of the library: \"name=value; ...\"");
    app.add_option("--deflate", o.deflate, "Compression level of netCDF-4 files")
        ->check(CLI::Range(0, 9));
    app.add_flag("--shuffle", o.shuffle, "Use the shuffle filter in netCDF-4 files");
    app.add_option("--bandwidth", o.bandwidth,
                   "Limit in bytes per second for all writers or readers together (500MB, 2GiB); "
                   "0: no limit")
        ->capture_default_str()
        ->transform(CLI::AsSizeValue(true));
    app.add_option("--prewarm-gb", o.prewarm_gb,
                   "Write and delete this many GB at the start, so that memory has been touched "
                   "(default: 2, "
                   "or twice what a repetition writes)")
        ->check(CLI::Range(0.0, 1e6));
    app.add_option("--verify", verify,
                   "Check the files of the first repetition, of all, or of none")
        ->capture_default_str()
        ->check(CLI::IsMember({"first", "all", "none"}));
    app.add_flag("--durable", o.durable,
                 "Include an fsync of the file in the time of every method");
    app.add_flag("--table,!--no-table", o.table, "Print the table to standard output");
    app.add_flag("--list", o.list, "List the workloads and methods");

    // Options of some measurements only.
    std::map<CLI::Option*, std::vector<Mode>> some;
    const auto only = [&](std::vector<Mode> of, CLI::Option* option) {
        some[option] = std::move(of);
    };
    std::string compute = "both";
    only({Mode::overlap},
         app.add_option("--ranks", o.ranks, "overlap: ranks of the model; the others are servers")
             ->check(many));
    only({Mode::overlap},
         app.add_option(
                "--services", o.services,
                "overlap: services of the library, separated by commas: inline, background, "
                "servers:N, auto, serial (inline, by one rank); with +later, as background+later, "
                "files are closed without waiting; none (no output), pack (copies only) and "
                "inline are always measured")
             ->delimiter(','));
    only({Mode::overlap},
         app.add_option("--peers", o.peers,
                        "overlap: raw, peer-pnetcdf, peer-pnetcdf-nonblocking; or none")
             ->delimiter(','));
    only({Mode::overlap},
         app.add_option(
                "--serial-bandwidth", o.serial_bandwidth,
                "overlap: as --bandwidth, for serial, whose single writer may get less from a "
                "parallel file system")
             ->transform(CLI::AsSizeValue(true)));
    only({Mode::overlap},
         app.add_option(
                "--compute-seconds", o.compute_seconds,
                "overlap: seconds of computation per step; 0: output as fast as possible (default: "
                "the same ratio to a step's output as in the workload's paper)")
             ->check(CLI::Range(0.0, 1e6)));
    only({Mode::overlap, Mode::prefetch, Mode::pio},
         app.add_option(
             "--compute", compute,
             "overlap, prefetch: kind of computation: sleep, arithmetic or both; pio: seconds in "
             "each step"));
    only({Mode::prefetch},
         app.add_option("--proportion", o.proportion,
                        "prefetch: computation of a step, as a multiple of reading it inline (1)")
             ->check(CLI::Range(0.0, 1e6)));
    only({Mode::irregular}, app.add_option("--maps", o.maps,
                                           "irregular: maps to generate: f (atmosphere), g "
                                           "(ocean), i (land) (default: all)")
                                ->delimiter(',')
                                ->check(CLI::IsMember({"f", "g", "i"})));
    only({Mode::irregular, Mode::pio},
         app.add_option("--elements", o.elements, "irregular, pio: elements per variable of lists")
             ->check(size));
    try {
        app.parse(argc - (write ? 0 : 1), argv + (write ? 0 : 1));
    } catch (const CLI::CallForHelp&) {
        return app.help();
    } catch (const CLI::ParseError& e) {
        throw UsageError(e.what());
    }
    if (o.list) return {};
    for (const auto& [option, of] : some)
        if (option->count() > 0 && std::find(of.begin(), of.end(), o.mode) == of.end())
            throw UsageError(option->get_name() + " is no option of this measurement, but of " +
                             option->get_description());
    if (o.format == "netcdf4" && o.mode != Mode::read)
        throw UsageError(
            "--format netcdf4: only with read; see the methods record-netcdf4 and netcdf4");
    if (o.mode == Mode::pio && compute != "both") {
        if (!CLI::detail::lexical_cast(compute, o.compute_seconds) || !(o.compute_seconds >= 0))
            throw UsageError("--compute " + compute + ": must be a number of seconds");
    } else if (compute == "sleep" || compute == "arithmetic") {
        o.computing = {compute};
    } else if (compute != "both") {
        throw UsageError("--compute " + compute + ": must be sleep, arithmetic or both");
    }
    o.copy_puts = put == "copy";
    o.verify = verify == "none" ? Verify::none : verify == "first" ? Verify::first : Verify::all;
    if (o.mode == Mode::irregular && o.maps.empty()) o.maps = {"f", "g", "i"};
    if (o.workload.empty() && o.mode != Mode::irregular && o.mode != Mode::history)
        throw UsageError("no workload given; --list prints them");
    return {};
}

}  // namespace thalweg::bench
