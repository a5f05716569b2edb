// SPDX-License-Identifier: Apache-2.0
//
// A program without MPI: writes a field of 6 x 4 x 8 points to serial.nc. It is the same with a
// library that was built with MPI and with one that was built without. Run it with: serial_cpp
#define THALWEG_SERIAL 1  // thalweg.hpp then needs no mpi.h
#include <cstddef>
#include <cstdio>
#include <thalweg/thalweg.hpp>
#include <vector>

constexpr int nx = 8, nz = 4, ny = 6, nsteps = 3;

int main() try {
    std::vector<float> T(std::size_t(ny * nz * nx));

    auto io = thalweg::Session::serial();
    auto cells = io.decompose("lat lev lon", {ny, nz, nx}, {{{0, 0, 0}, {ny, nz, nx}}});
    auto history = io.create("serial.nc");
    history.def_var("T", thalweg::Type::float32, "time lev lat lon", cells);
    history.put_att("T", "units", "K");
    for (int step = 1; step <= nsteps; ++step) {
        for (float& t : T) t = 273.0f + static_cast<float>(step);  // the model computes
        history.put("T", T);
        history.end_step();
    }
    history.close();
    io.finalize();
} catch (const thalweg::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
