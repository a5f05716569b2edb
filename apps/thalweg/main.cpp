// thalweg: tools to use outside a model. Only those that may run on several ranks start MPI.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <mpi.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "calibrate/calibrate.hpp"
#include "combine.hpp"
#include "compare.hpp"
#include "plan/command.hpp"
#include "repack.hpp"
#include "report.hpp"
#include "session/settings.hpp"
#include "thalweg/thalweg.h"
#include "verify.hpp"
#include "zarr.hpp"

namespace {

constexpr int exit_wrong = 1;
constexpr int exit_usage = 2;

int recover(const std::vector<std::string>& files, bool force) {
    const tw_recovery longer = force ? TW_REPLACE_LONGER : TW_KEEP_LONGER;
    int status = 0;
    for (const std::string& file : files) {
        char text[4096] = "";
        const bool good = tw_recover(file.c_str(), longer, text, sizeof text) == TW_OK;
        if (!good) status = exit_wrong;
        std::fflush(stdout);  // the lines in the order of the files, where both go to one place
        fmt::print(good ? stdout : stderr, "{}\n", text);
    }
    return status;
}

/// Runs a command on one rank, or on as many as a launcher starts.
template <class Command>
int with_mpi(const char* name, int failed, Command&& command) {
    MPI_Init(nullptr, nullptr);
    int code = failed;
    try {
        code = command();
    } catch (const std::exception& e) {
        fmt::print(stderr, "thalweg: {}: {}\n", name, e.what());
        std::fflush(stderr);
        // Launchers may drop what they have not forwarded when a rank aborts.
        usleep(200000);
        MPI_Abort(MPI_COMM_WORLD, failed);  // other ranks may wait for this one
    }
    MPI_Finalize();
    return code;
}

int combine(const std::vector<std::string>& sets, const std::string& output, bool common_records) {
    const auto comm = thalweg::detail::make_mpi_comm(MPI_COMM_WORLD);
    int code = 0;
    for (const std::string& set : sets) {
        std::string done;
        const thalweg::detail::Status status =
            thalweg::app::combine(*comm, set, output, common_records, done);
        if (!status.ok()) code = exit_wrong;
        if (comm->rank() == 0)
            fmt::print(status.ok() ? stdout : stderr, "{}\n", status.ok() ? done : status.text);
    }
    return code;
}

int refer(const thalweg::app::ZarrOptions& options) {
    std::string done;
    std::vector<std::string> notes;
    const thalweg::detail::Status status =
        thalweg::app::write_zarr_references(options, done, notes);
    for (const std::string& note : notes) fmt::print(stderr, "thalweg: zarr: note: {}\n", note);
    fmt::print(status.ok() ? stdout : stderr, "{}\n", status.ok() ? done : status.text);
    return status.ok() ? 0 : exit_wrong;
}

/// Names in lists separated by commas; a backslash keeps the character after it.
std::vector<std::string> split_at_commas(const std::vector<std::string>& lists) {
    std::vector<std::string> names;
    for (const std::string& list : lists) {
        names.emplace_back();
        for (std::size_t i = 0; i < list.size(); ++i) {
            if (list[i] == ',')
                names.emplace_back();
            else
                names.back() += list[i] == '\\' && i + 1 < list.size() ? list[++i] : list[i];
        }
    }
    return names;
}

/// Adds an option of names separated by commas, which may be repeated.
void add_names(CLI::App* command, const char* option, std::vector<std::string>& names,
               const char* description) {
    command
        ->add_option_function<std::vector<std::string>>(
            option,
            [&names](const std::vector<std::string>& lists) { names = split_at_commas(lists); },
            description)
        ->allow_extra_args(false)
        ->take_all();
}

/// Finite and not negative: CLI11's own checks let NaN pass.
const CLI::Validator is_limit(
    [](const std::string& text) -> std::string {
        double value = NAN;
        const bool number = CLI::detail::lexical_cast(text, value);
        if (number && std::isfinite(value) && value >= 0) return {};
        return "must be a finite number of at least 0, not " + text;
    },
    "NUMBER");

/// The subcommand `zarr` and its options.
CLI::App* add_zarr(CLI::App& app, thalweg::app::ZarrOptions& options) {
    CLI::App* const zarr =
        app.add_subcommand("zarr",
                           "Write references (kerchunk JSON) by which Zarr readers read netCDF "
                           "files in place; several "
                           "files are joined along their record dimension, in the order given");
    zarr->add_option("FILE", options.files, "netCDF file: classic of any kind, or netCDF-4")
        ->required();
    zarr->add_option("-o,--output", options.output,
                     "JSON file to write; FILE.json by default; required for several files");
    zarr->add_flag("--absolute", options.absolute,
                   "Refer to the files by absolute paths, not relative to the JSON file");
    add_names(zarr, "--skip", options.references.left_out, "Variables to leave out");
    zarr->add_option("--chunk", options.references.most_chunk,
                     "Largest chunk into which data without filters are cut")
        ->transform(CLI::AsSizeValue(false))
        ->check(CLI::Range(std::int64_t(1), std::int64_t(1) << 40))
        ->default_str("16MiB");
    zarr->add_option("--copy", options.references.copied,
                     "Copy variables of up to this size into the JSON file")
        ->transform(CLI::AsSizeValue(false))
        ->check(CLI::Range(std::int64_t(0), std::int64_t(1) << 40))
        ->default_str("64KiB");
    return zarr;
}

int report(const std::string& summary, const std::string& output) {
    std::string written;
    const thalweg::detail::Status status = thalweg::app::report(summary, output, written);
    if (!status.ok())
        fmt::print(stderr, "thalweg: report: {}\n", status.text);
    else if (!written.empty())
        fmt::print("{}\n", written);
    return status.ok() ? 0 : exit_wrong;
}

int print_settings() {
    thalweg::detail::Settings settings;
    if (const thalweg::detail::Status status = thalweg::detail::Settings::read("", settings);
        !status.ok()) {
        fmt::print(stderr, "thalweg: {}\n", status.text);
        return exit_wrong;
    }
    fmt::print("{}", settings.table());
    return 0;
}

CLI::App* add_verify(CLI::App& app, thalweg::app::VerifyOptions& options) {
    CLI::App* const command = app.add_subcommand(
        "verify",
        "Compare the contents of two files of any format, or sets of tiles; in parallel under "
        "mpirun. Exit code: 0 equal, 1 different, 2 error");
    command->add_option("A", options.a, "First file")->required();
    command->add_option("B", options.b, "Second file")->required();
    command
        ->add_option("--tolerance", options.tolerance,
                     "Numbers that differ by at most this are equal; so are NaNs of any kind")
        ->check(is_limit);
    command
        ->add_option("--relative", options.relative,
                     "The same as a fraction of the larger magnitude; with both options one of "
                     "them suffices")
        ->check(is_limit);
    add_names(command, "--ignore-attribute", options.ignored,
              "Attributes not to compare: NAME, VARIABLE:NAME or :NAME (global)");
    add_names(command, "--variables", options.variables,
              "Compare only these variables, with their dimensions and attributes");
    command->add_flag("--json", options.json, "Print the result as JSON");
    return command;
}

constexpr const char* common_records_help =
    "Join the records that all files of a set have, where a killed run has left more in some of "
    "them";

CLI::App* add_repack(CLI::App& app, thalweg::app::RepackOptions& options) {
    CLI::App* const command = app.add_subcommand(
        "repack",
        "Copy a file of any format, or a set of tiles, into another format, with other chunks or "
        "compression; in parallel under mpirun");
    command->add_option("IN", options.input, "File to read")->required();
    command->add_option("OUT", options.output, "File to write; may exist, but not be IN")
        ->required();
    command->add_option("--format", options.format, "Format of OUT; that of IN by default")
        ->check(CLI::IsMember({"cdf1", "cdf2", "cdf5", "netcdf4", "netcdf4-classic"}));
    command->add_option("--chunks", options.chunks,
                        "Lengths of chunks, as in lev=10,lat=90; auto: as the library likes");
    command->add_option("--deflate", options.deflate, "Level of deflate, 1 to 9; 0: none");
    command->add_option("--zstd", options.zstd, "Level of zstd; no: none");
    command->add_option("--shuffle", options.shuffle, "yes or no; with compression yes by default");
    command->add_option("--quantize", options.quantize,
                        "Keep fewer digits: bitgroom:DIGITS, granularbr:DIGITS or bitround:BITS");
    command
        ->add_option("--set", options.variables,
                     "The same for one variable: VARIABLE:NAME=VALUE;NAME=VALUE")
        ->expected(1)
        ->take_all();
    command->add_flag("--common-records", options.common_records, common_records_help);
    command->add_flag("--fixed", options.fixed, "Give the unlimited dimension a fixed length");
    command->add_option("--memory", options.memory, "Memory of each rank for the data")
        ->transform(CLI::AsSizeValue(false))
        ->check(CLI::Range(std::int64_t(1), std::int64_t(1) << 50))
        ->default_str("64MiB");
    return command;
}

}  // namespace

int main(int argc, char** argv) try {
    CLI::App app{"Tools for Thalweg, a parallel I/O library for Earth-system models."};
    app.name("thalweg");
    app.set_version_flag("--version", fmt::format("thalweg {}.{}.{}", TW_VERSION_MAJOR,
                                                  TW_VERSION_MINOR, TW_VERSION_PATCH));
    app.require_subcommand(1);

    std::vector<std::string> files;
    CLI::App* const recovers = app.add_subcommand(
        "recover", "Complete the files that a killed run left under temporary names");
    recovers
        ->add_option("FILE", files,
                     "Name of the file, or its temporary name, FILE.part or FILE.part.N")
        ->required();
    bool force = false;
    recovers->add_flag("--force", force, "Replace a file even if it has more records");
    std::vector<std::string> sets;
    std::string output;
    CLI::App* const combines = app.add_subcommand(
        "combine",
        "Join the tile files NAME.0000 and so on into one file; in parallel under mpirun");
    combines->add_option("NAME", sets, "Name of the tile files without the number")->required();
    combines->add_option("-o,--output", output, "File to write; NAME by default");
    bool common_records = false;
    combines->add_flag("--common-records", common_records, common_records_help);
    thalweg::app::CompareOptions comparison;
    CLI::App* const compares = app.add_subcommand(
        "compare",
        "Under mpirun: measure how fast each method writes here, compared with plain writes of the "
        "same bytes");
    compares->add_option("--methods", comparison.methods, "Methods to compare")
        ->delimiter(',')
        ->capture_default_str();
    compares->add_option("--shape", comparison.shape, "Numbers of longitudes, latitudes, levels")
        ->delimiter(',')
        ->expected(3)
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    compares->add_option("--fields", comparison.fields, "Number of float fields with all levels")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    compares->add_option("--steps", comparison.steps, "Number of steps in a file")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    compares->add_option("--repetitions", comparison.repetitions, "Number of files of each method")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    compares
        ->add_option("--folder", comparison.folder, "Directory for the files, which are removed")
        ->capture_default_str();
    thalweg::app::ZarrOptions references;
    CLI::App* const refers = add_zarr(app, references);
    std::string summary, page;
    CLI::App* const reports = app.add_subcommand(
        "report", "Show where the time of a run went: its summary as an HTML page");
    reports
        ->add_option("SUMMARY", summary,
                     "JSON file that the setting summary named; - for standard input")
        ->required();
    reports->add_option("-o,--output", page,
                        "Page to write; SUMMARY with the ending .html by default, - for standard "
                        "output");
    thalweg::app::VerifyOptions verification;
    CLI::App* const verifies = add_verify(app, verification);
    thalweg::app::RepackOptions repacking;
    CLI::App* const repacks = add_repack(app, repacking);
    app.add_subcommand("settings",
                       "Print the settings and the source of each value: the environment, the "
                       "configuration file (THALWEG_CONFIG) or the default");
    thalweg::app::CalibrateOptions calibration;
    CLI::App* const calibrates = app.add_subcommand(
        "calibrate",
        "Under mpirun: measure packing, messages and writing here, for thalweg plan and the "
        "setting calibration");
    calibrates
        ->add_option("--folder", calibration.folders,
                     "Directory to write to; may be given several times")
        ->capture_default_str();
    calibrates->add_option("--seconds", calibration.seconds, "Time to take, about")
        ->check(is_limit)
        ->check(CLI::Range(0.1, 60.0))
        ->capture_default_str();
    calibrates->add_option("-o,--output", calibration.output, "File to write")
        ->capture_default_str();
    thalweg::app::PlanOptions planning;
    CLI::App* const plans = app.add_subcommand(
        "plan", "Predict what each method and service costs a run that a TOML file describes");
    plans->add_option("RUN.toml", planning.description, "Description of the run")->required();
    plans->add_flag("--json", planning.json, "Print JSON instead of tables");
    plans->add_option("--calibration", planning.calibration,
                      "Figures of the machine, from thalweg calibrate");
    plans->add_option("--picture", planning.picture,
                      "SVG file to write: time of the run by number of servers");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? 0 : exit_usage;
    }
    if (combines->parsed()) {
        if (sets.size() > 1 && !output.empty()) {
            fmt::print(stderr, "thalweg: combine: --output is for one set; {} are given\n",
                       sets.size());
            return exit_usage;
        }
        return with_mpi("combine", exit_wrong,
                        [&] { return combine(sets, output, common_records); });
    }
    if (refers->parsed()) {
        if (references.files.size() > 1 && references.output.empty()) {
            fmt::print(stderr, "thalweg: zarr: {} files are given: --output is missing\n",
                       references.files.size());
            return exit_usage;
        }
        return refer(references);
    }
    if (plans->parsed()) return thalweg::app::plan(planning);
    if (reports->parsed()) return report(summary, page);
    if (calibrates->parsed())
        return with_mpi("calibrate", exit_wrong,
                        [&] { return thalweg::app::calibrate(calibration); });
    if (compares->parsed())
        return with_mpi("compare", exit_wrong, [&] { return thalweg::app::compare(comparison); });
    if (repacks->parsed())
        return with_mpi("repack", exit_wrong, [&] { return thalweg::app::repack(repacking); });
    if (verifies->parsed())
        return with_mpi("verify", exit_usage, [&] { return thalweg::app::verify(verification); });
    return recovers->parsed() ? recover(files, force) : print_settings();
} catch (const std::exception& e) {
    fmt::print(stderr, "thalweg: {}\n", e.what());
    return exit_wrong;
}
