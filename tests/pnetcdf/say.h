/* Prints what each rank got from a call.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <mpi.h>
#include <stdio.h>

static int rank, ranks;

static void start(int* argc, char*** argv) {
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
}

static void say(const char* what, long long value) {
    long long values[64];
    MPI_Gather(&value, 1, MPI_LONG_LONG, values, 1, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
    if (rank != 0) return;
    printf("%s", what);
    for (int r = 0; r < ranks; r++) printf(" %lld", values[r]);
    printf("\n");
}
#define SAY(call) say(#call, call)
