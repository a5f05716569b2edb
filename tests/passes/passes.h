/* Counts the copies that the library makes of data that are put, in the functions that it reports
 * them to (base/work.hpp), and compares them with the number of elements: one pass over the data is
 * one copy of each element.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PASSES_H
#define PASSES_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Each rank has NX columns of each row, so a run in the file has 4 KiB. */
enum { NX = 1024, NZ = 2, VARIABLES = 2, STEPS = 3 };

static _Atomic int64_t copied_elements, copied_bytes;

void thalweg_count_copies(int64_t elements, int64_t bytes);
void thalweg_count_copies(int64_t elements, int64_t bytes) {
    atomic_fetch_add(&copied_elements, elements);
    atomic_fetch_add(&copied_bytes, bytes);
}

static int rank, ranks, failures, rows; /* rows: arguments of the program, as is `wanted` */
static double wanted;
static float* values;

#define OK(call)                                                                                   \
    do {                                                                                           \
        const int code_ = call;                                                                    \
        if (code_ != 0) {                                                                          \
            failures++;                                                                            \
            fprintf(stderr, "[rank %d] %s:%d: %s is %d\n", rank, __FILE__, __LINE__, #call,        \
                    code_);                                                                        \
        }                                                                                          \
    } while (0)

static inline int64_t elements(void) { return (int64_t)NZ * rows * NX; }

/* Starts MPI. The arguments are the rows of a level, and the number of passes. */
static inline void begin(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    rows = atoi(argv[1]);
    wanted = atof(argv[2]);
    values = calloc((size_t)elements(), sizeof *values);
    for (int64_t i = 0; i < elements(); i++) values[i] = (float)(rank + 1) + (float)i;
}

/* Compares the number of passes over the data of all ranks that hold some. */
static inline int finish(const char* name, int holders) {
    int64_t all[3] = {copied_elements, copied_bytes, failures};
    MPI_Allreduce(MPI_IN_PLACE, all, 3, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    const double put = (double)elements() * VARIABLES * STEPS * holders;
    const double passes = ((double)all[0] + (double)all[1] / sizeof(float)) / put;
    const int differs = passes < wanted - 0.01 || passes > wanted + 0.01;
    if (rank == 0) printf("%s: %.2f passes, %.2f are expected\n", name, passes, wanted);
    free(values);
    MPI_Finalize();
    return differs || all[2] > 0;
}

#endif
