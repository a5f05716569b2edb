// thalweg-bench: measures how fast each method writes distributed fields into one netCDF file.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>

#include "ground.hpp"
#include "irregular/command_line.hpp"
#include "irregular/measure.hpp"
#include "irregular/report.hpp"
#include "machine.hpp"
#include "options.hpp"
#include "overlap_report.hpp"
#include "prefetch.hpp"
#include "reading.hpp"
#include "report.hpp"
#include "run.hpp"

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

void tell(const RankGroup& rank_group, const Options& options, const nlohmann::ordered_json& report,
          std::string (*table)(const nlohmann::ordered_json&)) {
    if (rank_group.rank() != 0) return;
    if (options.table) fmt::print("{}", table(report));
    std::fflush(stdout);
    if (options.json.empty()) return;
    std::ofstream out(options.json);
    out << report.dump(2) << "\n";
    if (!out.flush()) throw std::runtime_error("cannot write " + options.json);
}

int run_methods(const RankGroup& rank_group, int argc, char** argv) {
    Options options;
    std::string text;
    if (parse_options(argc, argv, options, text) == Parsed::done) {
        if (rank_group.rank() == 0) fmt::print("{}", text);
        return 0;
    }
    Problem problem(options, rank_group.rank(), rank_group.ranks());
    check_json_file(rank_group, options.json);
    const auto machine = describe_machine(rank_group, options.dir);
    const Measurement measurement = measure(rank_group, problem, options);
    const std::string command = command_line(argc, argv, rank_group.ranks());
    tell(rank_group, options, report_json(machine, problem, options, measurement, command),
         report_table);
    return measurement.good ? 0 : exit_wrong;
}

int run_overlap(const RankGroup& rank_group, int argc, char** argv) {
    OverlapOptions options;
    std::string text;
    if (parse_overlap_options(argc - 1, argv + 1, options, text) == Parsed::done) {
        if (rank_group.rank() == 0) fmt::print("{}", text);
        return 0;
    }
    check_json_file(rank_group, options.base.json);
    const auto machine = describe_machine(rank_group, options.base.dir);
    const OverlapMeasurement measurement = measure_overlap(rank_group, options);
    const std::string command = command_line(argc, argv, rank_group.ranks());
    tell(rank_group, options.base, overlap_json(machine, options, measurement, command),
         overlap_table);
    return measurement.good ? 0 : exit_wrong;
}

int run_reading(const RankGroup& rank_group, int argc, char** argv) {
    ReadOptions options;
    std::string text;
    if (parse_read_options(argc - 1, argv + 1, options, text) == Parsed::done) {
        if (rank_group.rank() == 0) fmt::print("{}", text);
        return 0;
    }
    check_json_file(rank_group, options.base.json);
    const auto machine = describe_machine(rank_group, options.base.dir);
    bool good = true;
    const auto report = measure_reading(rank_group, options, machine,
                                        command_line(argc, argv, rank_group.ranks()), good);
    tell(rank_group, options.base, report, reading_table);
    return good ? 0 : exit_wrong;
}

int run_prefetch(const RankGroup& rank_group, int argc, char** argv) {
    PrefetchOptions options;
    std::string text;
    if (parse_prefetch_options(argc - 1, argv + 1, options, text) == Parsed::done) {
        if (rank_group.rank() == 0) fmt::print("{}", text);
        return 0;
    }
    check_json_file(rank_group, options.base.json);
    const auto machine = describe_machine(rank_group, options.base.dir);
    bool good = true;
    const auto report = measure_prefetch(rank_group, options, machine,
                                         command_line(argc, argv, rank_group.ranks()), good);
    tell(rank_group, options.base, report, prefetch_table);
    return good ? 0 : exit_wrong;
}

int run_irregular(const RankGroup& rank_group, int argc, char** argv) {
    irregular::IrregularOptions options;
    std::string text;
    if (irregular::parse_options(argc - 1, argv + 1, options, text) == Parsed::done) {
        if (rank_group.rank() == 0) fmt::print("{}", text);
        return 0;
    }
    check_json_file(rank_group, options.base.json);
    const auto machine = describe_machine(rank_group, options.base.dir);
    const irregular::Measurement measurement = irregular::measure(rank_group, options);
    const std::string command = command_line(argc, argv, rank_group.ranks());
    tell(rank_group, options.base, irregular::report_json(machine, options, measurement, command),
         irregular::report_table);
    return measurement.good ? 0 : exit_wrong;
}

int run(int argc, char** argv) {
    const RankGroup rank_group(MPI_COMM_WORLD);
    const bool speaks = rank_group.rank() == 0;
    const std::string first = argc > 1 ? argv[1] : "";
    try {
        if (first == "read") return run_reading(rank_group, argc, argv);
        if (first == "prefetch") return run_prefetch(rank_group, argc, argv);
        if (first == "overlap") return run_overlap(rank_group, argc, argv);
        if (first == "irregular") return run_irregular(rank_group, argc, argv);
        return run_methods(rank_group, argc, argv);
    } catch (const UsageError& e) {
        if (speaks) fmt::print(stderr, "thalweg-bench: {}\n", e.what());
        return exit_usage;
    }
}

/// Handles "overlap ... --print-ranks", which a script calls before it starts the MPI program.
/// Returns the exit status, or -1 for other arguments.
int print_ranks(int argc, char** argv) {
    const auto is = [&](int i, const char* word) { return std::strcmp(argv[i], word) == 0; };
    bool asked = false;
    for (int i = 2; i < argc; ++i) asked |= is(i, "--print-ranks");
    if (!asked || !is(1, "overlap")) return -1;
    try {
        OverlapOptions options;
        std::string text;
        parse_overlap_options(argc - 1, argv + 1, options, text);
        fmt::print("{}", text);
        return 0;
    } catch (const UsageError& e) {
        fmt::print(stderr, "thalweg-bench: {}\n", e.what());
        return exit_usage;
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (const int printed = print_ranks(argc, argv); printed >= 0) return printed;
    // The library's background thread makes no MPI calls.
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    int status = exit_failed;
    try {
        status = run(argc, argv);
    } catch (const std::exception& e) {
        // Abort, because other ranks may wait for this one in a collective call.
        int rank = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        fmt::print(stderr, "thalweg-bench: rank {}: {}\n", rank, e.what());
        std::fflush(stderr);
        // Wait, because launchers may drop output that they have not forwarded when a rank aborts.
        usleep(200000);
        MPI_Abort(MPI_COMM_WORLD, exit_failed);
    }
    MPI_Finalize();
    return status;
}
