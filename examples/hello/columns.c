/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes columns that are distributed round-robin, as physics packages do to balance the load:
 * T(column, level) in memory, 20 columns of 3 levels, is written to columns.nc as T(lev, ncol).
 * Run it with: mpirun -n 3 columns_c
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <thalweg/thalweg.h>

enum { NCOL = 20, NLEV = 3 };

static void stop(int status, tw_session io) {
    fprintf(stderr, "%s\n%s\n", tw_strerror(status), tw_error_message(io));
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

/* This is a macro, so that `io` is read after the call: tw_init sets it, even if it fails. */
#define check(call, io)                                                                            \
    do {                                                                                           \
        const int status = (call);                                                                 \
        if (status != TW_OK) {                                                                     \
            stop(status, io);                                                                      \
        }                                                                                          \
    } while (0)

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);

    int64_t list[NCOL]; /* the columns of this rank */
    float T[NCOL][NLEV];
    int64_t n = 0;
    for (int64_t column = rank; column < NCOL; column += ranks) list[n++] = column;

    tw_session io;
    tw_decomposition columns;
    tw_file history;
    check(tw_init(MPI_COMM_WORLD, NULL, &io), io);
    check(tw_decompose_list(io, "ncol lev", (int64_t[]){NCOL, NLEV}, "ncol", n, list,
                            TW_LIST_UNIQUE, &columns),
          io);
    check(tw_create(io, "columns.nc", NULL, &history), io);
    check(tw_def_var(history, "T", TW_FLOAT, "time lev ncol", columns), io);
    for (int step = 1; step <= 2; ++step) {
        for (int64_t i = 0; i < n; ++i) /* the model computes */
            for (int lev = 0; lev < NLEV; ++lev)
                T[i][lev] = (float)(1000 * step + 100 * lev + list[i]);
        check(tw_put(history, "T", TW_FLOAT, T, n * NLEV), io);
        check(tw_end_step(history), io);
    }
    check(tw_close(&history), io);
    check(tw_finalize(&io), io);
    MPI_Finalize();
    return 0;
}
