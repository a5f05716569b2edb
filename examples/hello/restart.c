/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads two records of the file of hello; each rank reads some rows. Run it after hello, on any
 * number of ranks: mpirun -n 3 restart_c
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <thalweg/thalweg.h>

enum { NX = 8, NZ = 4 };

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

    tw_session io;
    tw_decomposition cells;
    tw_file history;
    int64_t ny, steps;
    check(tw_init(MPI_COMM_WORLD, NULL, &io), io);
    check(tw_open(io, "hello.nc", NULL, &history), io);
    check(tw_inq_dim(history, "lat", &ny), io);
    check(tw_inq_dim(history, "time", &steps), io);
    const int64_t js = rank * ny / ranks;
    const int64_t nj = (rank + 1) * ny / ranks - js;
    const int64_t n = nj * NZ * NX;
    float* T = malloc((size_t)(n + 1) * sizeof *T); /* this rank's rows: T[lat][lev][lon] */
    float* T_old = malloc((size_t)(n + 1) * sizeof *T_old);
    check(tw_decompose(io, "lat lev lon", 1, (int64_t[]){ny, NZ, NX}, (int64_t[]){js, 0, 0},
                       (int64_t[]){nj, NZ, NX}, &cells),
          io);
    check(tw_get_array(history, "T", cells, steps - 1, tw_dense(TW_FLOAT, T, n), TW_DEFERRED), io);
    check(tw_get_array(history, "T", cells, steps - 2, tw_dense(TW_FLOAT, T_old, n), TW_DEFERRED),
          io);
    check(tw_read(history), io); /* reads both arrays in one pass through the file */
    check(tw_close(&history), io);
    if (n > 0) {
        printf("rank %d: %8.2f%8.2f\n", rank, T[0], T_old[0]);
    }
    check(tw_finalize(&io), io);
    free(T);
    free(T_old);
    MPI_Finalize();
    return 0;
}
