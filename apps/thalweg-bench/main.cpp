// thalweg-bench: how fast distributed fields reach one netCDF file, method by method.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <mpi.h>

#include <cstdio>
#include <fstream>

#include "ground.hpp"
#include "machine.hpp"
#include "options.hpp"
#include "report.hpp"
#include "run.hpp"

namespace {

using namespace thalweg::bench;

constexpr int exit_wrong = 1;  // a method failed its check or could not be measured
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

int run(int argc, char** argv) {
    const Meeting meeting(MPI_COMM_WORLD);
    const bool speaks = meeting.rank() == 0;
    try {
        Options options;
        std::string text;
        if (parse_options(argc, argv, options, text) == Parsed::done) {
            if (speaks) fmt::print("{}", text);
            return 0;
        }
        Problem problem(options, meeting.rank(), meeting.ranks());
        check_json_file(meeting, options.json);
        const auto machine = describe_machine(meeting, options.dir);
        const Measurement measurement = measure(meeting, problem, options);
        const std::string command = command_line(argc, argv, meeting.ranks());
        const auto report = report_json(machine, problem, options, measurement, command);
        if (speaks) {
            if (options.table) fmt::print("{}", report_table(report));
            std::fflush(stdout);
            if (!options.json.empty()) {
                std::ofstream out(options.json);
                out << report.dump(2) << "\n";
                if (!out.flush()) throw std::runtime_error(options.json + " could not be written");
            }
        }
        return measurement.good ? 0 : exit_wrong;
    } catch (const UsageError& e) {
        if (speaks) fmt::print(stderr, "thalweg-bench: {}\n", e.what());
        return exit_usage;
    }
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int status = exit_failed;
    try {
        status = run(argc, argv);
    } catch (const std::exception& e) {
        // Other ranks may wait in a collective call for this one.
        int rank = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        fmt::print(stderr, "thalweg-bench: rank {}: {}\n", rank, e.what());
        std::fflush(stderr);
        MPI_Abort(MPI_COMM_WORLD, exit_failed);
    }
    MPI_Finalize();
    return status;
}
