// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"

#include <cmath>
#include <cstdint>

namespace thalweg::app {

namespace {

/// Splits lists of names at commas. A backslash makes the character after it part of a name.
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

/// Checks that a number is finite and not negative. CLI11's own checks accept NaN.
const CLI::Validator is_limit(
    [](const std::string& text) -> std::string {
        double value = NAN;
        const bool number = CLI::detail::lexical_cast(text, value);
        if (number && std::isfinite(value) && value >= 0) return {};
        return "must be a finite number of at least 0, not " + text;
    },
    "NUMBER");

}  // namespace

CLI::App* add_verify(CLI::App& app, VerifyOptions& options) {
    CLI::App* const command = app.add_subcommand(
        "verify",
        "Compare the contents of two files of any format, or sets of tiles, or files with their "
        "checksums; in parallel under mpirun. Exit code: 0 equal, 1 different, 2 error");
    command
        ->add_option("FILE", options.files, "Two files; with --checksums or --joinable any number")
        ->required();
    command->add_flag("--joinable", options.joinable,
                      "Print why netCDF files cannot be joined along their records in this order, "
                      "as thalweg zarr does; exit code 1 if there is a reason");
    command->add_flag("--checksums", options.checksums,
                      "Compare each file with its checksums, which it has if it was written with "
                      "checksums=yes");
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

CLI::App* add_repack(CLI::App& app, RepackOptions& options) {
    CLI::App* const command = app.add_subcommand(
        "repack",
        "Copy a file of any format, or a set of tiles, into another format, with other chunks or "
        "compression; in parallel under mpirun");
    command->add_option("IN", options.input, "File to read")->required();
    command->add_option("OUT", options.output, "File to write; may exist, but not be IN")
        ->required();
    command->add_option("--format", options.format, "Format of OUT; that of IN by default")
        ->check(CLI::IsMember({"cdf1", "cdf2", "cdf5", "netcdf4", "netcdf4-classic", "zarr"}));
    command->add_option("--chunks", options.chunks,
                        "Lengths of chunks, as in lev=10,lat=90; auto: as the library likes");
    command->add_option("--packing", options.packing, "cmip7: the layout that CMIP7 asks for")
        ->check(CLI::IsMember({"cmip7", "no"}));
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

CLI::App* add_compare(CLI::App& app, CompareOptions& options) {
    CLI::App* const command = app.add_subcommand(
        "compare",
        "Under mpirun: measure how fast each method writes here, compared with plain writes of the "
        "same bytes");
    command->add_option("--methods", options.methods, "Methods to compare")
        ->delimiter(',')
        ->capture_default_str();
    command->add_option("--shape", options.shape, "Numbers of longitudes, latitudes, levels")
        ->delimiter(',')
        ->expected(3)
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    command->add_option("--fields", options.fields, "Number of float fields with all levels")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    command->add_option("--steps", options.steps, "Number of steps in a file")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    command->add_option("--repetitions", options.repetitions, "Number of files of each method")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    command->add_option("--folder", options.folder, "Directory for the files, which are removed")
        ->capture_default_str();
    return command;
}

CLI::App* add_show(CLI::App& app, ShowOptions& options) {
    CLI::App* const command = app.add_subcommand(
        "show",
        "Show what a file of any format, or a set of tiles, holds, and whether it is complete");
    command->add_option("FILE", options.path, "File; a file that is still written, too")
        ->required();
    CLI::Option* const json = command->add_flag("--json", options.json, "Print JSON");
    command->add_flag("--stats", options.statistics,
                      "Read all values: minimum, maximum and mean of each variable; in parallel "
                      "under mpirun");
    command->add_option("--plot", options.plotted, "Variable of which to draw a map")
        ->excludes(json);
    return command;
}

CLI::App* add_history(CLI::App& app, HistoryOptions& options) {
    CLI::App* const command = app.add_subcommand("history",
                                                 "Check the configuration of a history: all "
                                                 "problems, with lines; with --run also the files, "
                                                 "sizes and memory of a run");
    CLI::Option* const config =
        command->add_option("HISTORY.toml", options.config, "Configuration to check");
    CLI::Option* const run =
        command->add_option("--run", options.run,
                            "TOML file with calendar, start, end, step, dims and fields of a run");
    command->add_option("--calendar", options.calendar, "Calendar of the model")
        ->capture_default_str()
        ->excludes(run);
    command->add_option("--start", options.start, "Date at which the model starts")
        ->capture_default_str()
        ->excludes(run);
    command
        ->add_option(
            "--from", options.from,
            "Print the TOML of another program's configuration instead: an FMS diag_table, "
            "ice_in of CICE, XML of XIOS or MPAS")
        ->excludes(config);
    command->add_flag("--keys", options.keys, "Print all keys of a configuration instead")
        ->excludes(config);
    CLI::Option* const restart = command->add_option(
        "--restart", options.restart, "Restart from which --forget removes the stream");
    CLI::Option* const forget =
        command
            ->add_option("--forget", options.forget,
                         "Let this stream, whose definition has changed, begin anew at a restart; "
                         "its unfinished files are renamed")
            ->needs(restart)
            ->excludes(config);
    restart->needs(forget);
    command->require_option(1, 4);
    return command;
}

CLI::App* add_doctor(CLI::App& app, DoctorOptions& options) {
    CLI::App* const command = app.add_subcommand(
        "doctor",
        "Look at MPI, libraries, processors, memory, folders and settings; best under mpirun, as "
        "in a job. Of programs: which netCDF, HDF5 and MPI they load, and which of their files "
        "thalweg run takes. Exit code: 0 no problems, 1 problems");
    command->add_option("FOLDER", options.folders, "Directories for files, or programs")
        ->capture_default_str();
    return command;
}

CLI::App* add_run(CLI::App& app, RunOptions& options) {
    CLI::App* const command = app.add_subcommand(
        "run",
        "Run a command whose calls of netCDF and PnetCDF the library takes, with settings of the "
        "library, and "
        "print one line about what it wrote: thalweg run mpirun -n 4 model. Exit code: that of the "
        "command");
    command
        ->add_option("--service", options.service,
                     "When files are written: auto, inline, background or servers")
        ->check(CLI::IsMember({"auto", "inline", "background", "servers"}));
    command->add_flag("--report", options.report,
                      "Write a page about the run, thalweg-report.html");
    CLI::Option* const netcdf =
        command
            ->add_option("--netcdf", options.netcdf,
                         "Which files of netCDF's calls are taken: parallel, all, forward or off")
            ->check(CLI::IsMember({"parallel", "all", "forward", "off"}));
    command
        ->add_option("--pnetcdf", options.pnetcdf,
                     "Whether files of PnetCDF's calls are taken: on, forward or off")
        ->check(CLI::IsMember({"on", "forward", "off"}));
    command
        ->add_option("--serial", options.serial, "Take files without communicator, too: yes or no")
        ->check(CLI::IsMember({"yes", "no"}))
        ->excludes(netcdf);
    command->add_option("--only", options.only,
                        "Take only files whose path or name fits one of these globs; colons "
                        "separate them, and \\: is a colon of a name");
    command->add_option("--skip", options.skip,
                        "Leave files whose path or name fits one of these globs, as for --only");
    command
        ->add_option("--tell", options.tell,
                     "Lines about the files taken: no, one at the end, or one for each file")
        ->check(CLI::IsMember({"no", "end", "file"}));
    command->add_flag("--live", options.live,
                      "Files have their names while they are written (publish=live)");
    command->prefix_command();
    command->footer(
        "[NAME=VALUE...] COMMAND...  settings; the program, or the launcher that starts it, with "
        "its "
        "arguments");
    return command;
}

}  // namespace thalweg::app
