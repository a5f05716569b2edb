// Counts the collective calls of MPI of each part of a run; a part that makes more than it may
// fails. With --node_size N, nodes have N ranks at most; with --trace PART, each call of that part
// is printed.
//
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <vector>

#include "support/count_mpi.h"
#include "system/calls.hpp"

using calls::session;

namespace {

constexpr std::int64_t nx = 12, ny = 20, nz = 3;

std::string traced;
mpi_counts before;

void begin_part(const char* part) {
    before = count_mpi();
    trace_mpi(traced == part && check::state.rank == 0 ? 1 : 0);
}

/// Ends a part of the test, and checks that no rank has made more than the given number of calls.
void end_part(const char* part, int collectives, int communicators = 0) {
    const mpi_counts now = count_mpi();
    trace_mpi(0);
    int most[2] = {now.collectives - before.collectives, now.communicators - before.communicators};
    PMPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (check::state.rank == 0)
        check::print(check::text("{} {} collectives, {} communicators", part, most[0], most[1]));
    CHECK_TEXT(most[0] <= collectives, "{}: {} collectives, at most {} are expected", part, most[0],
               collectives);
    CHECK_TEXT(most[1] <= communicators, "{}: {} communicators, at most {} are expected", part,
               most[1], communicators);
}

/// Largest numbers of calls in a part of the test: on one node, and on several nodes.
struct Limits {
    bool several;
    int operator()(int on_one, int on_several) const { return several ? on_several : on_one; }
};

/// This rank's rows. With three or more ranks, the last one has none.
struct Rows {
    std::int64_t start = 0, count = 0;
    Rows() {
        const std::int64_t ranks =
            check::state.size > 2 ? check::state.size - 1 : check::state.size;
        if (check::state.rank >= ranks) return;
        start = ny * check::state.rank / ranks;
        count = ny * (check::state.rank + 1) / ranks - start;
    }
};

tw_decomposition decompose(std::int64_t depth) {
    const Rows rows;
    const std::int64_t shape[] = {depth, ny, nx}, start[] = {0, rows.start, 0},
                       count[] = {rows.count > 0 ? depth : 0, rows.count, rows.count > 0 ? nx : 0};
    tw_decomposition made = nullptr;
    OK(tw_decompose(session, "lev lat lon", 1, shape, start, count, &made));
    return made;
}

/// Makes a list of every `step`-th point of the rows.
tw_decomposition decompose_list(int step) {
    const Rows rows;
    const std::int64_t shape[] = {ny, nx};
    std::vector<std::int64_t> list;
    for (std::int64_t i = rows.start * nx; i < (rows.start + rows.count) * nx; i += step)
        list.push_back(i);
    tw_decomposition made = nullptr;
    OK(tw_decompose_list(session, "lat lon", shape, "lat lon", std::ssize(list), list.data(),
                         TW_LIST_UNIQUE, &made));
    return made;
}

void write_step(tw_file file) {
    const std::int64_t n = nz * Rows().count * nx;
    const std::vector<float> values(static_cast<std::size_t>(n), 1.5F);
    OK(tw_put(file, "a", TW_FLOAT, values.data(), n));
    OK(tw_put(file, "b", TW_FLOAT, values.data(), n));
    OK(tw_end_step(file));
}

void write_file(const std::string& path, const char* settings, tw_decomposition held,
                const Limits& limit) {
    const bool netcdf4 = std::strstr(settings, "netcdf4") != nullptr;
    tw_file file = nullptr;
    begin_part("create");
    OK(tw_create(session, path.c_str(), settings, &file));
    OK(tw_def_var(file, "a", TW_FLOAT, "time lev lat lon", held));
    OK(tw_def_var(file, "b", TW_FLOAT, "time lev lat lon", held));
    OK(tw_put_att_text(file, "a", "units", "K"));
    end_part("create", limit(0, 1));
    begin_part("enddef");
    OK(tw_enddef(file));
    end_part("enddef", limit(0, 3) + (netcdf4 ? 1 : 0));
    begin_part("first step");
    write_step(file);
    end_part("first step", limit(0, 3));
    begin_part("next step");
    write_step(file);
    end_part("next step", limit(0, 3));
    begin_part("close");
    OK(tw_close(&file));
    end_part("close", limit(0, netcdf4 ? 3 : 2));
}

void run(const std::string& folder, const std::string& settings, const Limits& limit) {
    begin_part("session");
    OK(tw_init(MPI_COMM_WORLD, settings.c_str(), &session));
    // Dividing the nodes for the test takes one more communicator.
    end_part("session", limit(4, 8), limit(2, 5));
    begin_part("decompose");
    tw_decomposition held = decompose(nz);
    end_part("decompose", limit(0, 1));
    begin_part("decompose again");
    tw_decomposition again = decompose(nz);
    end_part("decompose again", limit(0, 1));
    begin_part("decompose another");
    tw_decomposition other = decompose(nz + 1);
    end_part("decompose another", limit(0, 1));
    begin_part("list of all");
    tw_decomposition list = decompose_list(1);
    end_part("list of all", limit(0, 1));
    begin_part("list with holes");
    tw_decomposition holes = decompose_list(2);
    end_part("list with holes", limit(1, 3));
    for (const char* own : {"", "", "format=netcdf4"}) {
        static int files = 0;
        if (check::state.rank == 0) check::print(check::text("-- file of '{}'", own));
        const std::string path = folder + "/" + std::to_string(++files) + ".nc";
        write_file(path, own, held, limit);
    }
    for (tw_decomposition* d : {&held, &again, &other, &list, &holes}) OK(tw_free_decomposition(d));
    begin_part("finalize");
    OK(tw_finalize(&session));
    end_part("finalize", limit(0, 1));
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    traced = check::option(argc, argv, "--trace", "");
    const int node_size = std::atoi(check::option(argc, argv, "--node_size", "0").c_str());
    const std::string folder = check::make_folder("collectives");
    run(folder, "node_size=" + std::to_string(node_size),
        {node_size > 0 && node_size < check::state.size});
    return check::verdict("collectives");
}
