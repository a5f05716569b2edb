// Writes and reads a file by PnetCDF's C++ interface, and prints what each rank read.
//
// Usage: cpp FILE
//
// SPDX-License-Identifier: Apache-2.0
#include <mpi.h>

#include <cstdio>
#include <pnetcdf>
#include <vector>

namespace {

void write(const char* path, int rank, int ranks) {
    using namespace PnetCDF;
    NcmpiFile file(MPI_COMM_WORLD, path, NcmpiFile::replace, NcmpiFile::classic5);
    const NcmpiDim time = file.addDim("time", NC_UNLIMITED);
    const NcmpiDim x = file.addDim("x", 10 * ranks);
    NcmpiVar flow = file.addVar("flow", ncmpiFloat, std::vector<NcmpiDim>{time, x});
    NcmpiVar mask = file.addVar("mask", ncmpiInt64, std::vector<NcmpiDim>{x});
    flow.putAtt("units", "m3 s-1");
    file.enddef();
    const MPI_Offset offset = 10 * rank;
    for (MPI_Offset record = 0; record < 3; record++) {
        std::vector<double> values;
        for (int i = 0; i < 10; i++) values.push_back(static_cast<double>(100 * record + rank + i));
        flow.putVar_all({record, offset}, {1, 10}, values.data());
    }
    std::vector<long long> marks(10, 1LL << 40U);
    int request = -1, status = 0;
    mask.iputVar({offset}, {10}, marks.data(), &request);
    file.Wait_all(1, &request, &status);
}

long long read(const char* path, int rank) {
    using namespace PnetCDF;
    NcmpiFile file(MPI_COMM_WORLD, path, NcmpiFile::read);
    const NcmpiVar flow = file.getVar("flow"), mask = file.getVar("mask");
    std::vector<float> values(30);
    std::vector<long long> marks(10);
    flow.getVar_all({0, 10 * rank}, {3, 10}, values.data());
    mask.getVar_all({10 * rank}, {10}, marks.data());
    long long sum = file.getDim("time").getSize() + flow.getAtt("units").getAttLength();
    for (const float v : values) sum = 31 * sum + static_cast<long long>(v);
    for (const long long m : marks) sum += m;
    return sum;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0, ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    long long sum = 0;
    if (argc != 2) MPI_Abort(MPI_COMM_WORLD, 2);
    try {
        write(argv[1], rank, ranks);
        sum = read(argv[1], rank);
    } catch (const PnetCDF::exceptions::NcmpiException& error) {
        std::fprintf(stderr, "%s\n", error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    std::vector<long long> all(static_cast<std::size_t>(ranks));
    MPI_Gather(&sum, 1, MPI_LONG_LONG, all.data(), 1, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
    for (const long long one : all)
        if (rank == 0) std::printf("%lld\n", one);
    MPI_Finalize();
    return 0;
}
