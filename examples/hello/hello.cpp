// SPDX-License-Identifier: Apache-2.0
//
// The smallest complete program: writes a field of 6 x 4 x 8 points, of which each rank holds some
// rows, to hello.nc in file order. Run it with: mpirun -n 2 hello_cpp
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thalweg/thalweg.hpp>
#include <vector>

constexpr int nx = 8, nz = 4, ny = 6, nsteps = 3;

static void write_history() {
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int js = rank * ny / ranks;
    const int nj = (rank + 1) * ny / ranks - js;
    std::vector<float> T(std::size_t(nj * nz * nx));  // this rank's rows: T[lat][lev][lon]

    thalweg::Session io(MPI_COMM_WORLD);
    auto cells = io.decompose("lat lev lon", {ny, nz, nx}, {{{js, 0, 0}, {nj, nz, nx}}});
    auto history = io.create("hello.nc");
    history.def_var("T", thalweg::Type::float32, "time lev lat lon", cells);
    history.put_att("T", "units", "K");
    for (int step = 1; step <= nsteps; ++step) {
        for (float& t : T) t = 273.0f + static_cast<float>(step);  // the model computes
        history.put("T", T);
        history.end_step();
    }
    history.close();
    io.finalize();
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    try {
        write_history();
    } catch (const thalweg::Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    MPI_Finalize();
}
