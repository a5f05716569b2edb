/* SPDX-License-Identifier: Apache-2.0
 *
 * A program without MPI: writes a field of 6 x 4 x 8 points to serial.nc, and reads it. It is the
 * same with a library that was built with MPI and with one that was built without. Run it with:
 * serial_c
 */
#define THALWEG_SERIAL 1 /* thalweg.h then needs no mpi.h */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <thalweg/thalweg.h>

enum { NX = 8, NZ = 4, NY = 6, NSTEPS = 3 };

/* This is a macro, so that `io` is read after the call: tw_init_serial sets it, even if it fails.
 */
#define check(call, io)                                                                            \
    do {                                                                                           \
        const int status = (call);                                                                 \
        if (status != TW_OK) {                                                                     \
            fprintf(stderr, "%s\n%s\n", tw_strerror(status), tw_error_message(io));                \
            exit(EXIT_FAILURE);                                                                    \
        }                                                                                          \
    } while (0)

int main(void) {
    enum { N = NY * NZ * NX };
    static float T[N]; /* T[lat][lev][lon] */

    tw_session io;
    tw_decomposition cells;
    tw_file history;
    check(tw_init_serial(NULL, &io), io);
    check(tw_decompose(io, "lat lev lon", 1, (int64_t[]){NY, NZ, NX}, (int64_t[]){0, 0, 0},
                       (int64_t[]){NY, NZ, NX}, &cells),
          io);
    check(tw_create(io, "serial.nc", NULL, &history), io);
    check(tw_def_var(history, "T", TW_FLOAT, "time lev lat lon", cells), io);
    check(tw_put_att_text(history, "T", "units", "K"), io);
    for (int step = 1; step <= NSTEPS; ++step) {
        for (int i = 0; i < N; ++i) { /* the model computes */
            T[i] = 273.0f + (float)step;
        }
        check(tw_put(history, "T", TW_FLOAT, T, N), io);
        check(tw_end_step(history), io);
    }
    check(tw_close(&history), io);

    check(tw_open(io, "serial.nc", NULL, &history), io);
    check(tw_get(history, "T", cells, NSTEPS - 1, TW_FLOAT, T, N), io);
    check(tw_close(&history), io);
    printf("the last record has %g\n", T[N - 1]);
    check(tw_finalize(&io), io);
    return 0;
}
