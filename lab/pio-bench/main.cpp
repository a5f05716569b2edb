// pio-bench: measures what output through PIO's interface costs a model. With -DPIO_BENCH_ONLY_PIO
// and without method_thalweg.cpp it uses only pio.h and MPI, so that it can be compiled with any
// PIO.
//
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include "measure.hpp"
#include "report.hpp"

using namespace pio_bench;

namespace {

int run(int argc, char** argv, int rank, int ranks) {
    const Options options = parse_options(argc, argv);
    if (options.io_tasks > ranks) throw std::runtime_error("--io-tasks: more than there are ranks");
    const Workload workload = make_workload(options, rank, ranks);
    const Context context{MPI_COMM_WORLD, rank, ranks, options, workload};
    const std::vector<Row> rows = measure(context);
    bool right = true;
    for (const Row& row : rows) right = right && row.wrong <= 0 && row.same != 0;
    if (rank == 0) {
        std::fputs(report_table(context, rows).c_str(), stdout);
        if (!options.json.empty()) std::ofstream(options.json) << report_json(context, rows);
    }
    return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    for (int i = 1; i < argc; ++i)
        if (std::strcmp(argv[i], "--help") == 0) {
            std::fputs(help().c_str(), stdout);
            return 0;
        }
    MPI_Init(&argc, &argv);
    int rank = 0, ranks = 1, code = 2;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    try {
        code = run(argc, argv, rank, ranks);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "pio-bench: rank %d: %s\n", rank, error.what());
        std::fflush(stderr);
        // Wait, because launchers may drop output that they have not forwarded when a rank aborts.
        usleep(200000);
        MPI_Abort(MPI_COMM_WORLD, code);
    }
    MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return code;
}
