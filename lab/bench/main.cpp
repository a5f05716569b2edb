// thalweg-bench: measures how fast each method writes or reads distributed fields.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "fields/ground.hpp"
#include "methods/history.hpp"
#include "report.hpp"

namespace {

using namespace thalweg::bench;

constexpr int exit_wrong = 1;  // a method failed a check or could not be measured
constexpr int exit_usage = 2;
constexpr int exit_failed = 3;

std::string command_line(int argc, char** argv, int ranks) {
    std::string text = fmt::format("mpirun -n {}", ranks);
    for (int i = 0; i < argc; ++i) {
        std::string word = argv[i];
        if (i == 0) word = word.substr(word.rfind('/') + 1);
        const bool plain = word.find_first_of(" ;\"'$\\&|<>*()") == std::string::npos;
        text += plain ? " " + word : " '" + word + "'";
    }
    return text;
}

int run(const RankGroup& world, int argc, char** argv) {
    Options options;
    std::string text = parse_options(argc, argv, options);
    if (options.list) text = listing();
    if (world.rank() == 0) fmt::print("{}", text);
    if (!text.empty()) return 0;
    check_json_file(world, options.json);
    // Settings in the environment would override those of the methods and services.
    if (options.mode == Mode::write || options.mode == Mode::irregular)
        for (const char* name : {"METHOD", "STORAGE", "FORMAT", "DEFLATE", "SHUFFLE"})
            unsetenv(fmt::format("THALWEG_{}", name).c_str());
    if (options.mode == Mode::overlap)
        for (const char* name : {"SERVICE", "SERVERS", "BANDWIDTH"})
            unsetenv(fmt::format("THALWEG_{}", name).c_str());
    if (options.mode == Mode::history) {
        check_folder(world, options.dir, 0);
        measure_history(world, options);
        return 0;
    }
    Measurement measurement = plan_rows(world, options);
    const auto machine = describe_machine(world, options.dir);
    measure(world, options, measurement);
    if (world.rank() == 0) {
        const auto report =
            report_json(machine, options, measurement, command_line(argc, argv, world.ranks()));
        if (options.table) fmt::print("{}", report_table(report, options));
        std::fflush(stdout);
        if (!options.json.empty()) {
            std::ofstream out(options.json);
            out << report.dump(2) << "\n";
            if (!out.flush()) throw std::runtime_error("cannot write " + options.json);
        }
    }
    return measurement.good ? 0 : exit_wrong;
}

}  // namespace

int main(int argc, char** argv) {
    // The library's background thread makes no MPI calls.
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    int status = exit_failed, rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    try {
        const RankGroup world(MPI_COMM_WORLD);
        try {
            status = run(world, argc, argv);
        } catch (const UsageError& e) {
            if (rank == 0) fmt::print(stderr, "thalweg-bench: {}\n", e.what());
            status = exit_usage;
        }
    } catch (const std::exception& e) {
        // Abort, because other ranks may wait for this one in a collective call.
        fmt::print(stderr, "thalweg-bench: rank {}: {}\n", rank, e.what());
        std::fflush(stderr);
        // Wait, because launchers may drop output that they have not forwarded when a rank aborts.
        usleep(200000);
        MPI_Abort(MPI_COMM_WORLD, exit_failed);
    }
    MPI_Finalize();
    return status;
}
