/* Writes or reads the grids of pnetcdf-bench by this library's own calls, and prints the seconds
 * from create or open to close: tw_put_record, without a copy for /nonblocking, and tw_get_box.
 *
 * Usage: pnetcdf-own-bench GRID/CALLS PATH
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <thalweg/thalweg.h>
#include <unistd.h>

#include "grids.h"

static int rank, ranks;
static tw_session session;

static void check(int code, const char* what) {
    if (code == TW_OK) return;
    fprintf(stderr, "pnetcdf-own-bench: rank %d: %s: %s\n", rank, what, tw_error_message(session));
    MPI_Abort(MPI_COMM_WORLD, 1);
}
#define CHECK(call) check(call, #call)

static void define(tw_file file, const Grid* g, tw_decomposition part) {
    const char* const names[] = {"time", "lev", "lat", "lon"};
    for (int d = 0; d < 4; d++)
        CHECK(tw_def_dim(file, names[d], d == 0 ? TW_UNLIMITED : g->length[d - 1]));
    for (int v = 0; v < g->vars; v++) {
        char name[16];
        snprintf(name, sizeof name, "v%d", v);
        CHECK(tw_def_var(file, name, TW_FLOAT, "time lev lat lon", part));
    }
    CHECK(tw_enddef(file));
}

static void run(const Grid* g, const char* path, Calls calls) {
    int64_t start[4], count[4], length[3] = {g->length[0], g->length[1], g->length[2]};
    const int64_t elements = cut_grid(g, rank, ranks, start, count);
    float* const values = calloc((size_t)(g->vars * elements), sizeof *values);
    tw_file file;
    tw_decomposition part;
    CHECK(tw_decompose(session, "lev lat lon", 1, length, start + 1, count + 1, &part));
    if (rank == 0 && calls != reading) unlink(path); /* as pnetcdf-bench does */
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    if (calls == reading) {
        CHECK(tw_open(session, path, "", &file));
    } else {
        CHECK(tw_create(session, path, "format=cdf5", &file));
        define(file, g, part);
    }
    for (int r = 0; r < g->records; r++) {
        start[0] = r;
        for (int v = 0; v < g->vars; v++) {
            float* const at = values + v * elements;
            char name[16];
            snprintf(name, sizeof name, "v%d", v);
            if (calls == reading)
                CHECK(tw_get_box(file, name, TW_FLOAT, start, count, NULL, at));
            else
                CHECK(tw_put_record_array(file, name, part, r, tw_dense(TW_FLOAT, at, elements),
                                          calls == nonblocking ? TW_DEFERRED : 0));
        }
        if (calls != reading) CHECK(tw_end_step(file));
    }
    CHECK(tw_close(&file));
    if (rank == 0) printf("%.4f s\n", MPI_Wtime() - begin);
    CHECK(tw_free_decomposition(&part));
    free(values);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    Calls calls = blocking;
    const Grid* const grid = argc == 3 ? find_grid(argv[1], &calls) : NULL;
    if (grid == NULL) {
        if (rank == 0) fprintf(stderr, "usage: pnetcdf-own-bench GRID/CALLS PATH\n");
        MPI_Finalize();
        return 2;
    }
    CHECK(tw_init(MPI_COMM_WORLD, "", &session));
    if (calls == reading) run(grid, argv[2], nonblocking);
    for (int i = 0; i < 2; i++) run(grid, argv[2], calls);
    CHECK(tw_finalize(&session));
    MPI_Finalize();
    return 0;
}
