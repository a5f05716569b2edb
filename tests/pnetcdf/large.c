/* Writes large sections of fixed-size variables by single ranks, between other puts of the same
 * variables, and prints what each rank reads.
 *
 * Usage: large FILE
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>

#include "say.h"

enum { rows = 8, columns = 20011 };

static int id, plain, filled, shorts;
static double x[rows * columns], back[rows * columns];

static const int* variables[] = {&plain, &filled, &shorts};
enum { n = 3 };

/* Puts `many` rows from row `first` of this rank's on, without the first and last columns. */
static int put(int variable, int first, int many, int together) {
    const MPI_Offset start[] = {rank * rows + first, 3}, count[] = {many, columns - 5};
    return together ? ncmpi_put_vara_double_all(id, variable, start, count, x)
                    : ncmpi_put_vara_double(id, variable, start, count, x);
}

static void make(int seed) {
    for (int i = 0; i < rows * columns; i++) x[i] = (i + seed * 31 + rank * 7) % 30000;
}

static void read_all(const char* when) {
    for (int i = 0; i < n; i++) {
        const MPI_Offset start[] = {rank * rows, 0}, count[] = {rows, columns};
        long long sum = 0;
        SAY(ncmpi_get_vara_double_all(id, *variables[i], start, count, back));
        for (int e = 0; e < rows * columns; e++) sum = sum * 31 + (long long)back[e];
        say(when, sum);
    }
}

int main(int argc, char** argv) {
    start(&argc, &argv);
    if (argc != 2) MPI_Abort(MPI_COMM_WORLD, 2);
    int dims[2];
    SAY(ncmpi_create(MPI_COMM_WORLD, argv[1], NC_64BIT_OFFSET, MPI_INFO_NULL, &id));
    ncmpi_def_dim(id, "row", rows * ranks, &dims[0]);
    ncmpi_def_dim(id, "column", columns, &dims[1]);
    ncmpi_def_var(id, "plain", NC_DOUBLE, 2, dims, &plain);
    ncmpi_def_var(id, "filled", NC_DOUBLE, 2, dims, &filled);
    ncmpi_def_var(id, "shorts", NC_SHORT, 2, dims, &shorts);
    SAY(ncmpi_def_var_fill(id, filled, 0, NULL));
    SAY(ncmpi_enddef(id));
    SAY(ncmpi_begin_indep_data(id));
    make(1);
    for (int i = 0; i < n; i++) { /* some ranks put much, others nothing */
        int code = put(*variables[i], 0, 1, 0);
        if (rank % 2 == 0) code += put(*variables[i], 2, 4, 0);
        say("alone", code);
    }
    make(2);
    const MPI_Offset start[] = {rank * rows, 5}, count[] = {1, 10}; /* a small one over it */
    SAY(ncmpi_put_vara_double(id, plain, start, count, x));
    SAY(ncmpi_put_vara_double(id, shorts, start, count, x));
    make(3);
    SAY(put(plain, 0, 1, 0)); /* a large one over the small one */
    SAY(ncmpi_get_vara_double(id, plain, start, count, back));
    say("read alone", (long long)back[9]);
    x[100] = 1e9;
    SAY(put(shorts, 1, 1, 0)); /* a value that does not fit */
    SAY(ncmpi_end_indep_data(id));
    /* Fill the holes, so that what both libraries leave there does not matter. */
    make(4);
    const MPI_Offset left[] = {rank * rows, 0}, right[] = {rank * rows, columns - 2};
    const MPI_Offset three[] = {rows, 3}, two[] = {rows, 2};
    for (int i = 0; i < n; i++) {
        SAY(ncmpi_put_vara_double_all(id, *variables[i], left, three, x));
        SAY(ncmpi_put_vara_double_all(id, *variables[i], right, two, x));
        SAY(put(*variables[i], 6, 2, 1));
        if (i != 2) SAY(put(*variables[i], 1, 1, 1));
        SAY(put(*variables[i], 2, rank % 2 == 0 ? 1 : 4, 1));
    }
    read_all("sum");
    SAY(ncmpi_close(id));
    SAY(ncmpi_open(MPI_COMM_WORLD, argv[1], NC_WRITE, MPI_INFO_NULL, &id));
    SAY(ncmpi_begin_indep_data(id));
    make(5);
    SAY(put(plain, 1, 3, 0));
    SAY(ncmpi_end_indep_data(id));
    read_all("sum of the changed file");
    SAY(ncmpi_close(id));
    MPI_Finalize();
    return 0;
}
