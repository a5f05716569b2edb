/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the file of hello record by record; the library reads each record while the model computes
 * with the previous one. Run it after hello, on any number of ranks: mpirun -n 3 forcing_c
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

static void compute(int rank, int64_t step, const float* T, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) {
        sum += T[i];
    }
    if (n > 0) {
        printf("rank %d, step %d: %8.2f\n", rank, (int)step + 1, sum / (double)n);
    }
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);

    tw_session io;
    tw_decomposition cells;
    tw_file input;
    int64_t ny, steps;
    check(tw_init(MPI_COMM_WORLD, NULL, &io), io);
    check(tw_open(io, "hello.nc", NULL, &input), io);
    check(tw_inq_dim(input, "lat", &ny), io);
    check(tw_inq_dim(input, "time", &steps), io);
    const int64_t js = rank * ny / ranks;
    const int64_t nj = (rank + 1) * ny / ranks - js;
    const int64_t n = nj * NZ * NX;
    float* T[2] = {malloc((size_t)(n + 1) * sizeof **T), malloc((size_t)(n + 1) * sizeof **T)};
    check(tw_decompose(io, "lat lev lon", 1, (int64_t[]){ny, NZ, NX}, (int64_t[]){js, 0, 0},
                       (int64_t[]){nj, NZ, NX}, &cells),
          io);
    check(tw_get(input, "T", cells, 0, TW_FLOAT, T[0], n), io);
    for (int64_t step = 0; step < steps; ++step) {
        if (step + 1 < steps) {
            float* next = T[(step + 1) % 2];
            check(
                tw_get_array(input, "T", cells, step + 1, tw_dense(TW_FLOAT, next, n), TW_DEFERRED),
                io);
            check(tw_prefetch(input), io);
        }
        compute(rank, step, T[step % 2], n);
        check(tw_read(input), io); /* wait for the next record, which was read meanwhile */
    }
    check(tw_close(&input), io);
    check(tw_finalize(&io), io);
    free(T[0]);
    free(T[1]);
    MPI_Finalize();
    return 0;
}
