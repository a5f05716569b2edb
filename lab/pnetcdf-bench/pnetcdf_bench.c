/* Writes or reads by the calls of PnetCDF alone, as one of several programs does, and prints the
 * seconds from create or open to close.
 *
 * Usage: pnetcdf-bench CASE PATH [MAP]; CASE is one of the names in `cases` below.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "grids.h"
#include "maps.h"

int rank, ranks;

void check(int code, const char* what) {
    if (code == 0) return;
    fprintf(stderr, "pnetcdf-bench: rank %d: %s: %s\n", rank, what, ncmpi_strerror(code));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

double begin_file(const char* path) {
    if (rank == 0 && path != NULL) unlink(path);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Wtime();
}

static void write_grid(const Grid* g, const char* path, Calls calls) {
    int id = 0, dims[4], variable = 0;
    int64_t first[4], n[4];
    const size_t elements = (size_t)cut_grid(g, rank, ranks, first, n);
    MPI_Offset start[4], count[4];
    for (int d = 0; d < 4; d++) {
        start[d] = first[d];
        count[d] = n[d];
    }
    float* const values = malloc((size_t)g->vars * elements * sizeof *values);
    for (size_t i = 0; i < (size_t)g->vars * elements; i++) values[i] = (float)rank + (float)i;
    const double begin = begin_file(calls == reading ? NULL : path);
    if (calls == reading) {
        CHECK(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &id));
    } else {
        CHECK(ncmpi_create(MPI_COMM_WORLD, path, NC_64BIT_DATA, MPI_INFO_NULL, &id));
        for (int d = 0; d < 4; d++) {
            const char* const names[] = {"time", "lev", "lat", "lon"};
            CHECK(ncmpi_def_dim(id, names[d], d == 0 ? NC_UNLIMITED : g->length[d - 1], &dims[d]));
        }
        for (int v = 0; v < g->vars; v++) {
            char name[16];
            snprintf(name, sizeof name, "v%d", v);
            CHECK(ncmpi_def_var(id, name, NC_FLOAT, 4, dims, &variable));
        }
        CHECK(ncmpi_enddef(id));
    }
    for (int r = 0; r < g->records; r++) {
        start[0] = r;
        for (int v = 0; v < g->vars; v++) {
            float* const at = values + (size_t)v * elements;
            if (calls == reading)
                CHECK(ncmpi_get_vara_float_all(id, v, start, count, at));
            else if (calls == nonblocking)
                CHECK(ncmpi_iput_vara_float(id, v, start, count, at, NULL));
            else
                CHECK(ncmpi_put_vara_float_all(id, v, start, count, at));
        }
        if (calls == nonblocking) CHECK(ncmpi_wait_all(id, NC_REQ_ALL, NULL, NULL));
    }
    CHECK(ncmpi_close(id));
    if (rank == 0) printf("%.4f s\n", MPI_Wtime() - begin);
    free(values);
}

/* One rank writes 256 MB in pieces of 1 MiB, while the others do nothing or put nothing. */
static void write_alone(const char* path, int together) {
    enum { piece = 1 << 18, pieces = 244 };
    int id = 0, dim = 0, variable = 0;
    float* const values = calloc(piece, sizeof *values);
    const double begin = begin_file(path);
    CHECK(ncmpi_create(MPI_COMM_WORLD, path, NC_64BIT_DATA, MPI_INFO_NULL, &id));
    CHECK(ncmpi_def_dim(id, "x", (MPI_Offset)piece * pieces, &dim));
    CHECK(ncmpi_def_var(id, "v", NC_FLOAT, 1, &dim, &variable));
    CHECK(ncmpi_enddef(id));
    if (!together) CHECK(ncmpi_begin_indep_data(id));
    for (MPI_Offset i = 0; i < pieces && (together || rank == 0); i++) {
        const MPI_Offset start = i * piece, count = rank == 0 ? piece : 0;
        if (together)
            CHECK(ncmpi_put_vara_float_all(id, variable, &start, &count, values));
        else
            CHECK(ncmpi_put_vara_float(id, variable, &start, &count, values));
    }
    if (!together) CHECK(ncmpi_end_indep_data(id));
    CHECK(ncmpi_close(id));
    if (rank == 0) printf("%.4f s\n", MPI_Wtime() - begin);
    free(values);
}

/* Inquires lengths, and enters and leaves define mode. */
static void ask(const char* path) {
    int id = 0, dim = 0, variable = 0;
    MPI_Offset length = 0;
    CHECK(ncmpi_create(MPI_COMM_WORLD, path, NC_64BIT_DATA, MPI_INFO_NULL, &id));
    CHECK(ncmpi_def_dim(id, "x", 1000, &dim));
    CHECK(ncmpi_def_var(id, "v", NC_FLOAT, 1, &dim, &variable));
    CHECK(ncmpi_enddef(id));
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int i = 0; i < 1000; i++) {
        for (int n = 0; n < 100; n++) CHECK(ncmpi_inq_dimlen(id, dim, &length));
        CHECK(ncmpi_redef(id));
        CHECK(ncmpi_enddef(id));
    }
    if (rank == 0) printf("%.4f s\n", MPI_Wtime() - begin);
    CHECK(ncmpi_close(id));
}

/* Posts a small put and waits for it, again and again. */
static void write_pairs(const char* path) {
    enum { pairs = 200, each = 1000 };
    int id = 0, dims[2], variable = 0;
    float values[each] = {0};
    CHECK(ncmpi_create(MPI_COMM_WORLD, path, NC_64BIT_DATA, MPI_INFO_NULL, &id));
    CHECK(ncmpi_def_dim(id, "time", NC_UNLIMITED, &dims[0]));
    CHECK(ncmpi_def_dim(id, "x", (MPI_Offset)each * ranks, &dims[1]));
    CHECK(ncmpi_def_var(id, "v", NC_FLOAT, 2, dims, &variable));
    CHECK(ncmpi_enddef(id));
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int i = 0; i < pairs; i++) {
        const MPI_Offset start[2] = {i, (MPI_Offset)each * rank}, count[2] = {1, each};
        CHECK(ncmpi_iput_vara_float(id, variable, start, count, values, NULL));
        CHECK(ncmpi_wait_all(id, NC_REQ_ALL, NULL, NULL));
    }
    if (rank == 0) printf("%.4f s\n", MPI_Wtime() - begin);
    CHECK(ncmpi_close(id));
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char* const which = argc > 2 ? argv[1] : "";
    const char* const path = argc > 2 ? argv[2] : "";
    int done = 0;
    Calls calls = blocking;
    const Grid* const grid = find_grid(which, &calls);
    if (grid != NULL && calls == reading) write_grid(grid, path, nonblocking);
    /* The first file of a process loads libraries and begins a session. */
    for (int i = 0; i < 2 && grid != NULL; i++) write_grid(grid, path, calls), done = 1;
    for (int i = 0; i < 2; i++) {
        if (strcmp(which, "alone") == 0) write_alone(path, 0), done = 1;
        if (strcmp(which, "alone-together") == 0) write_alone(path, 1), done = 1;
        if (strcmp(which, "pairs") == 0) write_pairs(path), done = 1;
        if (strcmp(which, "ask") == 0) ask(path), done = 1;
        if (argc > 3 && (strcmp(which, "e3sm-f") == 0 || strcmp(which, "e3sm-g") == 0))
            write_e3sm(which[5], argv[3], path, which[5] == 'f' ? 3 : 8), done = 1;
    }
    if (!done && rank == 0)
        fprintf(stderr,
                "usage: pnetcdf-bench CASE PATH [MAP]; cases: t85, fv-b, fv-d, cmaq-ca or "
                "wrf with /blocking, /nonblocking or /reading, e3sm-f, e3sm-g, alone, "
                "alone-together, pairs, ask\n");
    MPI_Finalize();
    return done ? 0 : 2;
}
