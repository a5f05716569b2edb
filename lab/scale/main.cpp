// thalweg-scale: writes steps of a workload with the library's calls and reports, as JSON, their
// cost for each rank in time, messages and memory. It runs on a machine that SimGrid simulates or,
// built with another MPI, on a real one.
// SPDX-License-Identifier: Apache-2.0
#include <mpi.h>

#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "arguments.hpp"
#include "measure.hpp"
#include "model.hpp"

using namespace thalweg;

namespace {

void write_report(const scale::Arguments& arguments, const nlohmann::ordered_json& report) {
    const std::string text = report.dump(2) + "\n";
    if (arguments.json.empty() || arguments.json == "-") {
        std::cout << text;
        return;
    }
    std::ofstream file(arguments.json);
    if (!(file << text).flush())
        throw std::runtime_error(arguments.json + ": cannot write the report");
}

/// Runs on every rank; rank 0 prints the report.
void run(const scale::Arguments& arguments) {
    scale::Measure measure;
    scale::Model model(arguments, measure);
    nlohmann::ordered_json report = model.run();
    measure.add_to(report);
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) write_report(arguments, report);
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int status = 0;
    try {
        run(scale::read_arguments(argc, argv));
    } catch (const bench::UsageError& e) {  // all ranks throw this error
        int rank = 0;
        PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
        if (rank == 0) std::cerr << "thalweg-scale: " << e.what() << "\n";
        status = 2;
    } catch (const std::exception& e) {
        int rank = 0;
        PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
        std::cerr << "thalweg-scale: rank " << rank << ": " << e.what() << "\n";
        MPI_Abort(MPI_COMM_WORLD, 2);
        status = 2;
    }
    MPI_Finalize();
    return status;
}
