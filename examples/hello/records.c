/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes records in the order in which a program has them, each by the decomposition at hand, and
 * corrects a point later; then reads some of it back. Run it with: mpirun -n 2 records_c
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <thalweg/thalweg.h>

enum { NX = 8, NY = 6 };

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
    const int is = rank * NX / ranks, ni = (rank + 1) * NX / ranks - is;
    const int js = rank * NY / ranks, nj = (rank + 1) * NY / ranks - js;
    float by_row[NY * NX], by_column[NY * NX]; /* large enough for the part of any rank */
    for (int i = 0; i < NY * NX; ++i) {
        by_row[i] = 2;
        by_column[i] = 1;
    }

    tw_session io;
    tw_decomposition rows, columns;
    tw_file file;
    const int64_t shape[] = {NY, NX};
    check(tw_init(MPI_COMM_WORLD, NULL, &io), io);
    check(tw_decompose(io, "y x", 1, shape, (int64_t[]){js, 0}, (int64_t[]){nj, NX}, &rows), io);
    check(tw_decompose(io, "y x", 1, shape, (int64_t[]){0, is}, (int64_t[]){NY, ni}, &columns), io);
    check(tw_create(io, "records.nc", NULL, &file), io);
    check(tw_def_dim(file, "time", TW_UNLIMITED), io);
    check(tw_def_dim(file, "x", NX), io);
    check(tw_def_dim(file, "y", NY), io);
    check(tw_def_var(file, "flow", TW_FLOAT, "time y x", NULL), io); /* no decomposition yet */
    check(tw_put_record(file, "flow", rows, 1, TW_FLOAT, by_row, nj * NX), io);
    check(tw_put_record(file, "flow", columns, 0, TW_FLOAT, by_column, NY * ni), io);
    check(tw_end_step(file), io); /* both are in the file */
    if (rank == 0) {
        const int64_t at[] = {0, 1, 2}, one[] = {1, 1, 1};
        check(tw_put_box(file, "flow", TW_FLOAT, at, one, NULL, (float[]){7}), io);
    }
    check(tw_end_step(file), io); /* ends a step that changes one point of record 0 */
    check(tw_sync(file, 0), io);
    /* A series at every second point of a row. Each rank could read another section. */
    float series[2 * NX / 2];
    const int64_t start[] = {0, 1, 0}, count[] = {2, 1, NX / 2}, stride[] = {1, 1, 2};
    check(tw_get_box(file, "flow", TW_FLOAT, start, count, stride, series), io);
    if (rank == 0) {
        printf("%g %g\n", series[1], series[NX / 2 + 1]);
    }
    check(tw_close(&file), io);
    check(tw_finalize(&io), io);
    MPI_Finalize();
    return 0;
}
