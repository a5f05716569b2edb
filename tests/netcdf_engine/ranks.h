/* A small file of all ranks, with t(time, x) and f(x), of which each rank has four columns.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <mpi.h>
#include <netcdf.h>
#include <netcdf_filter.h>
#include <netcdf_par.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "expect.h"

enum { per_rank = 4 };
static int id, dims[2], t, f; /* variables t(time, x) and f(x) */
static int values[per_rank], all[64];
static size_t start[2], count[2];

static inline void section(size_t record, size_t from, size_t records, size_t n) {
    start[0] = record, start[1] = from, count[0] = records, count[1] = n;
}

static inline void own(void) { section(0, (size_t)(per_rank * rank), 1, per_rank); }

static inline void fresh(const char* path, int how) {
    mode = how;
    EXPECT(0, nc_create_par(path, NC_CLOBBER | how, MPI_COMM_WORLD, MPI_INFO_NULL, &id));
    EXPECT(0, nc_def_dim(id, "time", NC_UNLIMITED, &dims[0]));
    EXPECT(0, nc_def_dim(id, "x", (size_t)(per_rank * ranks), &dims[1]));
    EXPECT(0, nc_def_var(id, "t", NC_INT, 2, dims, &t));
    EXPECT(0, nc_def_var(id, "f", NC_INT, 1, &dims[1], &f));
    for (int i = 0; i < per_rank; i++) values[i] = 10 * rank + i;
    own();
}

static inline void open_file(const char* path, int how) {
    EXPECT(0, nc_open_par(path, how, MPI_COMM_WORLD, MPI_INFO_NULL, &id));
}

/* Checks the values that all ranks have put into n columns, now in `all`. */
static inline void expect_columns(int n) {
    for (int i = 0; i < n; i++) EXPECT(10 * (i / per_rank) + i % per_rank, all[i]);
}

/* Opens a file, and checks the first n values of a variable. */
static inline void reopened(const char* path, const char* name, int n) {
    int v = 0;
    open_file(path, NC_NOWRITE);
    EXPECT(0, nc_inq_varid(id, name, &v));
    EXPECT(0, nc_get_var_int(id, v, all));
    expect_columns(n);
}

static inline void begin(int* argc, char*** argv, int threads, int* level) {
    MPI_Init_thread(argc, argv, threads, level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
}

/* Returns the exit status of the program: 1 if there was a failure on some rank. */
static inline int finish(void) {
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return failures > 0;
}
