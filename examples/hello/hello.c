/* SPDX-License-Identifier: Apache-2.0
 *
 * The smallest complete program: writes a field of 6 x 4 x 8 points, of which each rank holds some
 * rows, to hello.nc in file order. Run it with: mpirun -n 2 hello_c
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <thalweg/thalweg.h>

enum { NX = 8, NZ = 4, NY = 6, NSTEPS = 3 };

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
    const int js = rank * NY / ranks;
    const int nj = (rank + 1) * NY / ranks - js;
    const int64_t n = (int64_t)nj * NZ * NX;
    float* T = malloc((size_t)(n + 1) * sizeof *T); /* this rank's rows: T[lat][lev][lon] */

    tw_session io;
    tw_decomposition cells;
    tw_file history;
    check(tw_init(MPI_COMM_WORLD, NULL, &io), io);
    check(tw_decompose(io, "lat lev lon", 1, (int64_t[]){NY, NZ, NX}, (int64_t[]){js, 0, 0},
                       (int64_t[]){nj, NZ, NX}, &cells),
          io);
    check(tw_create(io, "hello.nc", NULL, &history), io);
    check(tw_def_var(history, "T", TW_FLOAT, "time lev lat lon", cells), io);
    check(tw_put_att_text(history, "T", "units", "K"), io);
    for (int step = 1; step <= NSTEPS; ++step) {
        for (int64_t i = 0; i < n; ++i) { /* the model computes */
            T[i] = 273.0f + (float)step;
        }
        check(tw_put(history, "T", TW_FLOAT, T, n), io);
        check(tw_end_step(history), io);
    }
    check(tw_close(&history), io);
    check(tw_finalize(&io), io);
    free(T);
    MPI_Finalize();
    return 0;
}
