// thalweg-plan: finds the work of ways to write for lab/plan (work), and measures the machine
// (calibrate).
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mpi.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <iostream>

#include "plan/calibrate/calibrate.hpp"
#include "plan/shares/shares.hpp"

namespace {

using namespace thalweg::planning;
using nlohmann::json;

constexpr int exit_wrong = 1, exit_usage = 2;

const char* kind_of(thalweg::detail::Sharing sharing) {
    switch (sharing) {
        case thalweg::detail::Sharing::local: return "local";
        case thalweg::detail::Sharing::parallel: return "parallel";
        default: return "shared";
    }
}

/// Reads a run (Run, as JSON in a line), and then ways (Way); answers each line with a line: what
/// is true of all ways, or an error, and then the work of each way (Work).
void find_work() {
    std::string line;
    std::getline(std::cin, line);
    const Run run = json::parse(line).get<Run>();
    thalweg::detail::FileSystem system;
    if (!thalweg::detail::file_system_named(run.file_system, system)) {
        const auto known = thalweg::detail::file_system_names();
        const std::string error = fmt::format("unknown file system '{}'; known are {}",
                                              run.file_system, fmt::join(known, ", "));
        std::cout << json{{"error", error}} << std::endl;
        return;
    }
    const Shares shares(run);
    std::cout << json{{"bytes", shares.bytes()},
                      {"variables", shares.variables()},
                      {"sharing", kind_of(system.sharing)},
                      {"warning", shares.chosen().warning},
                      {"reading", shares.reading()}}
              << std::endl;
    while (std::getline(std::cin, line))
        std::cout << json(shares.work_of(json::parse(line).get<Way>())) << std::endl;
}

int calibrate_with_mpi(const CalibrateOptions& options) {
    MPI_Init(nullptr, nullptr);
    int code = exit_wrong;
    try {
        code = calibrate(options);
    } catch (const std::exception& e) {
        fmt::print(stderr, "thalweg-plan: calibrate: {}\n", e.what());
        std::fflush(stderr);
        // Wait, because launchers may drop output that they have not forwarded when a rank aborts.
        usleep(200000);
        MPI_Abort(MPI_COMM_WORLD, exit_wrong);  // other ranks may wait for this one
    }
    MPI_Finalize();
    return code;
}

}  // namespace

int main(int argc, char** argv) try {
    if (argc == 2 && std::string(argv[1]) == "work") {
        find_work();
        return 0;
    }
    CLI::App app{"Measures packing, messages and writing; run it under mpirun."};
    app.name("thalweg-plan");
    CalibrateOptions options;
    CLI::App* const calibration = app.add_subcommand("calibrate", "Measure the machine");
    app.require_subcommand(1);
    calibration
        ->add_option("--folder", options.folders,
                     "Directory to write to; may be given several times")
        ->capture_default_str();
    calibration->add_option("--seconds", options.seconds, "Time to take, about")
        ->check([](const std::string& text) {  // CLI11's own range accepts NaN
            double value = NAN;
            const bool good = CLI::detail::lexical_cast(text, value) && std::isfinite(value);
            return good ? std::string() : "must be a finite number, not " + text;
        })
        ->check(CLI::Range(0.1, 60.0))
        ->capture_default_str();
    calibration->add_option("-o,--output", options.output, "File to write")->capture_default_str();
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? 0 : exit_usage;
    }
    return calibrate_with_mpi(options);
} catch (const std::exception& e) {
    fmt::print(stderr, "thalweg-plan: {}\n", e.what());
    return exit_wrong;
}
