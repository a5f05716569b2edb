// A model on an unstructured mesh, whose cells each rank holds in no particular order. It writes
// means, minima and counts over six hours, instants of some levels, means at two places, and daily
// means in a file for each variable.
//
// SPDX-License-Identifier: Apache-2.0
#include <mpi.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thalweg/thalweg.hpp>
#include <vector>

namespace {

using thalweg::replicated, thalweg::Type;

constexpr std::int64_t all_cells = 120, levels = 4, steps = 36;
constexpr double dt = 7200;

void run_model(thalweg::Session& io) {
    int rank = 0, ranks = 1;
    MPI_Comm_rank(io.model_comm(), &rank);
    MPI_Comm_size(io.model_comm(), &ranks);
    std::vector<std::int64_t> mine;
    for (std::int64_t i = 0; i < all_cells; ++i) {
        const std::int64_t cell = 37 * i % all_cells;
        if (cell % ranks == rank) mine.push_back(cell);
    }
    const auto columns = io.decompose_list("cell lev", {all_cells, levels}, "cell", mine);
    const auto cells = io.decompose_list("cell", {all_cells}, "cell", mine);

    auto history = io.history("mesh.toml", "julian", "1999-12-31 18:00");
    std::vector<double> lon, lat;
    for (const std::int64_t cell : mine) {
        lon.push_back(static_cast<double>(cell));
        lat.push_back(static_cast<double>(cell % 2));
    }
    history.coordinate("lon", "cell", cells, lon, "units=degrees_east; standard_name=longitude");
    history.coordinate("lat", "cell", cells, lat, "units=degrees_north; standard_name=latitude");
    history.coordinate("lev", "lev", replicated, std::array{1000.0, 850.0, 500.0, 100.0},
                       "units=hPa; positive=down");
    const auto wind =
        history.field("u", Type::float32, "cell lev", columns, "units=m s-1; coordinates=lon lat");
    const auto cloudy =
        history.field("cloudy", Type::int32, "cell", cells, "units=1; coordinates=lon lat");
    history.ready();

    std::vector<float> u;
    std::vector<std::int32_t> clouds;
    for (std::int64_t step = 1; step <= steps; ++step) {
        u.clear();
        clouds.clear();
        for (const std::int64_t cell : mine) {
            clouds.push_back(static_cast<std::int32_t>((cell + step) % 3));
            for (std::int64_t lev = 0; lev < levels; ++lev)
                u.push_back(0.5F * static_cast<float>(cell) +
                            static_cast<float>(100 * lev + (3 * step + cell) % 10));
        }
        history.time(dt * static_cast<double>(step));
        wind.send(u);
        cloudy.send(clouds);
        history.end_step();
    }
    history.close();
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    try {
        thalweg::Session io(MPI_COMM_WORLD);
        if (io.role() == thalweg::Role::model) run_model(io);
        io.finalize();
    } catch (const thalweg::Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    MPI_Finalize();
}
