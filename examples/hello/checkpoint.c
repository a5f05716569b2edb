/* SPDX-License-Identifier: Apache-2.0
 *
 * A model that continues where another run stopped, on any number of ranks:
 *   mpirun -n 4 checkpoint_c; mpirun -n 3 checkpoint_c again
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <thalweg/thalweg.h>

enum { NX = 8, NY = 10, NSTEPS = 5 };

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
    (void)argv;
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int64_t js = rank * NY / ranks;
    const int64_t nj = (rank + 1) * NY / ranks - js;
    const int64_t n = nj * NX;
    double* T = malloc((size_t)(n + 1) * sizeof *T); /* this rank's rows: T[lat][lon] */
    double forcing = 0.5;
    int step = 0;
    for (int64_t i = 0; i < n; ++i) {
        T[i] = (double)(js * NX + i);
    }

    tw_session io;
    tw_decomposition cells;
    tw_restart restart;
    check(tw_init(MPI_COMM_WORLD, NULL, &io), io);
    check(tw_decompose(io, "lat lon", 1, (int64_t[]){NY, NX}, (int64_t[]){js, 0},
                       (int64_t[]){nj, NX}, &cells),
          io);
    check(tw_restart_new(io, NULL, &restart), io);
    check(tw_restart_add(restart, "T", TW_DOUBLE, "lat lon", cells, T, n, TW_REQUIRED), io);
    check(tw_restart_add(restart, "forcing", TW_DOUBLE, "", NULL, &forcing, 1, TW_OPTIONAL), io);
    if (argc > 1) {
        tw_file file;
        check(tw_restart_read(restart, "checkpoint.nc", &file), io);
        check(tw_get_att(file, NULL, "step", TW_INT, 1, &step), io);
        check(tw_close(&file), io);
    }
    for (const int last = step + NSTEPS; step < last; ++step) {
        for (int64_t i = 0; i < n; ++i) { /* the model computes */
            T[i] += forcing / (step + 1);
        }
    }
    tw_file definitions;
    check(tw_restart_file(restart, &definitions), io);
    check(tw_put_att(definitions, NULL, "step", TW_INT, 1, &step), io);
    check(tw_restart_write(restart, "checkpoint.nc"), io);
    if (rank == 0) {
        printf("step %d: T is %.17g\n", step, T[0]);
    }
    check(tw_finalize(&io), io);
    free(T);
    MPI_Finalize();
    return 0;
}
