/* The grids of models whose output the programs of this folder write, how ranks divide them, and
 * how a case is run: each program is called as PROGRAM CASE PATH [MAP], and prints the seconds from
 * create or open to close. It runs each case twice: the first file of a process loads libraries.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, ranks;

/* Each program defines the text of an error. */
static const char* text_of(int code);
static void check(int code, const char* what) {
    if (code == 0) return;
    fprintf(stderr, "rank %d: %s: %s\n", rank, what, text_of(code));
    MPI_Abort(MPI_COMM_WORLD, 1);
}
#define CHECK(call) check(call, #call)

/* Variables of the same grid: levels, rows, columns. */
typedef struct {
    const char* name;
    int vars, records;
    int64_t length[3];
    int cut[2]; /* dimensions along which the ranks divide it */
} Grid;

static const Grid grids[] = {
    {"t85", 36, 2, {26, 128, 256}, {1, 1}},    {"fv-b", 36, 4, {26, 91, 144}, {0, 1}},
    {"fv-d", 36, 1, {26, 361, 576}, {0, 1}},   {"cmaq-ca", 146, 1, {35, 134, 89}, {1, 2}},
    {"wrf", 202, 4, {27, 61, 74}, {1, 2}},     {"ufs", 60, 1, {1, 384, 768}, {1, 1}},
    {"serial", 4, 16, {16, 256, 256}, {1, 1}},
};
static const char* const names[4] = {"time", "lev", "lat", "lon"};
static int64_t my_start[4], my_count[4]; /* of this rank: record, levels, rows, columns */

/* Finds the grid of a case GRID/WAY, and this rank's part of it. Returns NULL if there is none. */
static const Grid* find_grid(const char* name, const char** way) {
    const char* const slash = strchr(name, '/');
    for (size_t i = 0; slash != NULL && i < sizeof grids / sizeof *grids; i++) {
        const Grid* const g = &grids[i];
        if (strlen(g->name) != (size_t)(slash - name) ||
            strncmp(name, g->name, strlen(g->name)) != 0)
            continue;
        int parts[2] = {0, 0};
        const int one = g->cut[0] == g->cut[1];
        for (int d = 0; d < 4; d++) my_start[d] = 0, my_count[d] = d == 0 ? 1 : g->length[d - 1];
        MPI_Dims_create(ranks, one ? 1 : 2, parts);
        if (one) parts[1] = 1;
        for (int c = 0; c < (one ? 1 : 2); c++) {
            const int mine = c == 0 ? rank / parts[1] : rank % parts[1];
            const int64_t all = g->length[g->cut[c]];
            my_start[1 + g->cut[c]] = all * mine / parts[c];
            my_count[1 + g->cut[c]] = all * (mine + 1) / parts[c] - all * mine / parts[c];
        }
        *way = slash + 1;
        return g;
    }
    return NULL;
}

static size_t elements(void) { return (size_t)(my_count[1] * my_count[2] * my_count[3]); }

static float* make_values(size_t n) {
    float* const values = malloc((n + 1) * sizeof *values);
    for (size_t i = 0; i < n; i++) values[i] = (float)rank + (float)i * 0.25F;
    return values;
}

/* Begins the time. Removes a file that is there if it is to be replaced, which takes longer. */
static double begin(const char* replaced) {
    if (rank == 0 && replaced != NULL) unlink(replaced);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Wtime();
}
static void end(double begun) {
    if (rank == 0) printf("%.5f s\n", MPI_Wtime() - begun);
}

/* Each program defines its cases. Returns 0 if there is none of this name. */
static int run(const char* name, const char* path, const char* map);

static int run_twice(int argc, char** argv) {
    int done = argc > 2;
    for (int i = 0; i < 2 && done; i++) done = run(argv[1], argv[2], argc > 3 ? argv[3] : NULL);
    if (!done && rank == 0) fprintf(stderr, "usage: PROGRAM CASE PATH [MAP]; cases: programs.py\n");
    return done ? 0 : 2;
}
