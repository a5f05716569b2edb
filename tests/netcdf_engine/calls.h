/* Functions for programs that print what each call of netCDF returned and what was read, so that a
 * run with netCDF-C can be compared with one that the engine serves.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <mpi.h>
#include <netcdf.h>
#include <netcdf_filter.h>
#include <netcdf_par.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;
static FILE* lines;

/* Prints the result of a call. */
#define C(call) say(__LINE__, call)
static inline int say(int line, int code) {
    fprintf(lines, "%d: %d\n", line, code);
    return code;
}

#define SHOW(values, n)                                                                            \
    do {                                                                                           \
        fprintf(lines, "%d:", __LINE__);                                                           \
        for (size_t i_ = 0; i_ < (size_t)(n); i_++) fprintf(lines, " %.9g", (double)(values)[i_]); \
        fputc('\n', lines);                                                                        \
    } while (0)
#define TEXT(text) fprintf(lines, "%d: '%s'\n", __LINE__, text)

enum { wide = 6, levels = 3 };
static int id, dims[4], vars[8];

static inline int create(const char* path, int mode) {
    return nc_create_par(path, mode, MPI_COMM_WORLD, MPI_INFO_NULL, &id);
}
static inline int reopen(const char* path, int mode) {
    return nc_open_par(path, mode, MPI_COMM_WORLD, MPI_INFO_NULL, &id);
}
static inline void fill(float* x, size_t n, double first) {
    for (size_t i = 0; i < n; i++) x[i] = (float)(first + 0.5 * (double)i + 100 * rank);
}

/* Defines x (this rank has `wide` of it), z, and t. */
static inline void define_dims(void) {
    C(nc_def_dim(id, "time", NC_UNLIMITED, &dims[0]));
    C(nc_def_dim(id, "z", levels, &dims[1]));
    C(nc_def_dim(id, "x", (size_t)(wide * ranks), &dims[2]));
    C(nc_def_dim(id, "text", 19, &dims[3]));
}

static inline void put_tile(int v, size_t record, int access) {
    const size_t start[] = {record, 0, (size_t)(wide * rank)}, count[] = {1, levels, wide};
    float x[levels * wide];
    fill(x, levels * wide, 1000.0 * (double)record + v);
    C(nc_var_par_access(id, v, access));
    C(nc_put_vara_float(id, v, start, count, x));
}

static inline void get_tile(int v, size_t record) {
    const int other = (rank + 1) % ranks;
    const size_t start[] = {record, 0, (size_t)(wide * other)}, count[] = {1, levels, wide};
    double x[levels * wide] = {0};
    C(nc_get_vara_double(id, v, start, count, x));
    SHOW(x, levels * wide);
}

struct Case {
    const char* name;
    void (*run)(void);
};

/* Runs the case that the first argument names. Each rank prints into a file of its own. */
static inline int run_case(int argc, char** argv, const struct Case* cases, size_t n) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char path[32];
    snprintf(path, sizeof path, "lines.%d", rank);
    lines = fopen(path, "w");
    for (size_t i = 0; i < n; i++)
        if (argc > 1 && strcmp(argv[1], cases[i].name) == 0) cases[i].run();
    fclose(lines);
    MPI_Finalize();
    return 0;
}
