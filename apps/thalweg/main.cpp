// thalweg: tools to use outside a model. Only those that may run on several ranks start MPI.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <mpi.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "doctor/program.hpp"
#include "progress.hpp"
#include "python.hpp"
#include "repack/combine.hpp"
#include "session/settings.hpp"
#include "thalweg/thalweg.h"

namespace {

constexpr int exit_wrong = 1;
constexpr int exit_usage = 2;

int recover(const std::vector<std::string>& files, bool force) {
    const tw_recovery longer = force ? TW_REPLACE_LONGER : TW_KEEP_LONGER;
    int status = 0;
    for (const std::string& file : files) {
        char text[4096] = "";
        std::optional<thalweg::app::Busy> busy(std::in_place, "recovering " + file);
        const bool good = tw_recover(file.c_str(), longer, text, sizeof text) == TW_OK;
        busy.reset();
        if (!good) status = exit_wrong;
        std::fflush(stdout);  // keep the lines in order if both streams go to the same place
        fmt::print(good ? stdout : stderr, "{}\n", text);
    }
    return status;
}

/// Runs a command on one rank, or on all ranks that a launcher has started.
template <class Command>
int with_mpi(const char* name, int failed, Command&& command) {
    MPI_Init(nullptr, nullptr);
    int code = failed;
    try {
        code = command();
    } catch (const std::exception& e) {
        fmt::print(stderr, "thalweg: {}: {}\n", name, e.what());
        std::fflush(stderr);
        // Wait, because launchers may drop output that they have not forwarded when a rank aborts.
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

/// Shows a file. Starts MPI only if values are read, or if a launcher has started several ranks.
int show_file(const thalweg::app::ShowOptions& options) {
    const bool launched =
        std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr || std::getenv("PMI_SIZE") != nullptr;
    if (!launched && !options.reads_values()) return thalweg::app::show(options);
    return with_mpi("show", exit_wrong, [&] { return thalweg::app::show_values(options); });
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
    combines->add_flag("--common-records", common_records, thalweg::app::common_records_help);
    thalweg::app::CompareOptions comparison;
    CLI::App* const compares = thalweg::app::add_compare(app, comparison);
    // Python parses the arguments of these commands.
    const auto of_python = {
        app.add_subcommand(
            "zarr", "Write references (kerchunk JSON) by which Zarr readers read netCDF files"),
        app.add_subcommand("report",
                           "Show where the time of a run went: its summary as an HTML page")};
    for (CLI::App* const command : of_python) {
        command->set_help_flag();
        command->prefix_command();
    }
    thalweg::app::VerifyOptions verification;
    CLI::App* const verifies = thalweg::app::add_verify(app, verification);
    thalweg::app::RepackOptions repacking;
    CLI::App* const repacks = thalweg::app::add_repack(app, repacking);
    app.add_subcommand("settings",
                       "Print the settings and the source of each value: the environment, the "
                       "configuration file (THALWEG_CONFIG) or the default");
    thalweg::app::ShowOptions showing;
    CLI::App* const shows = thalweg::app::add_show(app, showing);
    thalweg::app::DoctorOptions examining;
    CLI::App* const examines = thalweg::app::add_doctor(app, examining);
    thalweg::app::HistoryOptions recording;
    CLI::App* const records = thalweg::app::add_history(app, recording);
    thalweg::app::RunOptions running;
    CLI::App* const runs = thalweg::app::add_run(app, running);
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
    for (CLI::App* const command : of_python)
        if (command->parsed())
            return thalweg::app::become_python(command->get_name(), command->remaining());
    if (!recording.forget.empty())
        return with_mpi("history", exit_wrong,
                        [&] { return thalweg::app::forget_stream(recording); });
    if (records->parsed()) return thalweg::app::check_history(recording);
    if (shows->parsed()) return show_file(showing);
    if (examines->parsed() && thalweg::app::are_programs(examining.folders))
        return thalweg::app::examine_programs(examining.folders);
    if (examines->parsed())
        return with_mpi("doctor", exit_wrong, [&] { return thalweg::app::doctor(examining); });
    if (runs->parsed()) {
        running.command = runs->remaining();
        if (!running.command.empty() && running.command.front() == "--")
            running.command.erase(running.command.begin());
        if (running.command.empty() || running.command.front().starts_with('-')) {
            fmt::print(stderr, "thalweg: run: {}\n",
                       running.command.empty() ? "no command is given"
                                               : "no option " + running.command.front());
            return exit_usage;
        }
        return thalweg::app::run(running);
    }
    if (compares->parsed())
        return with_mpi("compare", exit_wrong, [&] { return thalweg::app::compare(comparison); });
    if (repacks->parsed())
        return with_mpi("repack", exit_wrong, [&] { return thalweg::app::repack(repacking); });
    if (verifies->parsed() && verification.joinable)
        return thalweg::app::become_python("joinable", verification.files);
    if (verifies->parsed() && verification.checksums)
        return with_mpi("verify", exit_usage, [&] {
            const auto comm = thalweg::detail::make_mpi_comm(MPI_COMM_WORLD);
            return thalweg::app::verify_checksums(*comm, verification);
        });
    if (verifies->parsed() && verification.files.size() != 2) {
        fmt::print(stderr, "thalweg: verify: {} files are given, and not two\n",
                   verification.files.size());
        return exit_usage;
    }
    if (verifies->parsed()) {
        verification.a = verification.files.front();
        verification.b = verification.files.back();
    }
    if (verifies->parsed())
        return with_mpi("verify", exit_usage, [&] { return thalweg::app::verify(verification); });
    return recovers->parsed() ? recover(files, force) : print_settings();
} catch (const std::exception& e) {
    fmt::print(stderr, "thalweg: {}\n", e.what());
    return exit_wrong;
}
