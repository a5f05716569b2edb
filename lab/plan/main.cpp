// thalweg-plan: predicts what output costs a run (RUN.toml), and measures the machine (calibrate).
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>

#include "plan/calibrate/calibrate.hpp"
#include "plan/report.hpp"

namespace {

using namespace thalweg::planning;
using thalweg::detail::Status;

constexpr int exit_wrong = 1, exit_usage = 2;

struct PlanOptions {
    std::string description;
    std::string calibration;  ///< calibration file to use instead of the one in the description
    std::string picture;      ///< path of an SVG file to write; empty: none
    bool json = false;
};

int plan(const PlanOptions& options) {
    Run run;
    Status status = read_run(options.description, options.calibration, run);
    if (status.ok()) {
        const Shares shares(run);
        const Plan made = make_plan(run, shares);
        if (!options.picture.empty()) status = write_file(options.picture, picture_of(run, made));
        if (status.ok())
            fmt::print("{}",
                       options.json ? json_of(run, shares, made) : text_of(run, shares, made));
    }
    if (!status.ok()) fmt::print(stderr, "thalweg-plan: {}\n", status.text);
    return status.ok() ? 0 : exit_wrong;
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
    const bool calibrates = argc > 1 && std::string(argv[1]) == "calibrate";
    CLI::App app{calibrates ? "Under mpirun: measures packing, messages and writing here."
                            : "Predicts what each method and service costs a run that a TOML file "
                              "describes. thalweg-plan calibrate measures the machine."};
    app.name(calibrates ? "thalweg-plan calibrate" : "thalweg-plan");
    CalibrateOptions calibration;
    PlanOptions planning;
    if (calibrates) {
        app.add_option("--folder", calibration.folders,
                       "Directory to write to; may be given several times")
            ->capture_default_str();
        app.add_option("--seconds", calibration.seconds, "Time to take, about")
            ->check([](const std::string& text) {  // CLI11's own range accepts NaN
                double value = NAN;
                const bool good = CLI::detail::lexical_cast(text, value) && std::isfinite(value);
                return good ? std::string() : "must be a finite number, not " + text;
            })
            ->check(CLI::Range(0.1, 60.0))
            ->capture_default_str();
        app.add_option("-o,--output", calibration.output, "File to write")->capture_default_str();
    } else {
        app.add_option("RUN.toml", planning.description, "Description of the run")->required();
        app.add_flag("--json", planning.json, "Print JSON instead of tables");
        app.add_option("--calibration", planning.calibration,
                       "Figures of the machine, from thalweg-plan calibrate");
        app.add_option("--picture", planning.picture,
                       "SVG file to write: time of the run by number of servers");
    }
    try {
        app.parse(argc - calibrates, argv + calibrates);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? 0 : exit_usage;
    }
    return calibrates ? calibrate_with_mpi(calibration) : plan(planning);
} catch (const std::exception& e) {
    fmt::print(stderr, "thalweg-plan: {}\n", e.what());
    return exit_wrong;
}
