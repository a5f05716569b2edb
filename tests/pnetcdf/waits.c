/* Puts the same elements from different ranks, a few in each of many calls of ncmpi_wait_all, and
 * prints what each rank reads: the last call counts. In one call, no two ranks put the same
 * element.
 *
 * Usage: waits FILE
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>

#include "say.h"

enum { width = 12, lines = 7, most_columns = 64 * width, calls = 145, many = 70 };

static int id, columns, blocks, rows, single, records, plain;
static int requests[2 * many], n;

/* Values of one call, which stay in place until the call ends. */
static double values[2 * many + 8][lines * most_columns];
static double back[lines * most_columns];

static void post(int variable, const MPI_Offset* start, const MPI_Offset* count, double first) {
    MPI_Offset elements = 1;
    for (int d = 0; d < (variable == records ? 3 : 2); d++) elements *= count[d];
    for (MPI_Offset i = 0; i < elements; i++) values[n][i] = first + (double)i / 1024;
    const int code = ncmpi_iput_vara_double(id, variable, start, count, values[n], &requests[n]);
    if (code != NC_NOERR) printf("rank %d: post %d\n", rank, code);
    n++;
}

/* A block of columns for this rank, another one in each call. */
static MPI_Offset turn(int call) { return (MPI_Offset)((rank + call) % ranks) * width; }

static void put_blocks(int call) {
    const MPI_Offset start[] = {call % 3, turn(call)}, count[] = {2, width};
    post(blocks, start, count, call + rank * 1000);
}

/* One rank puts nearly everything, and another one a corner in the next call. */
static void put_rows(int call) {
    if (rank != call % ranks) return;
    const MPI_Offset start[] = {call % 2, call % 4}, count[] = {lines - 1, columns - call % 7 - 4};
    post(rows, start, count, call);
}

/* The ranks post different numbers of puts, in some calls very different ones. */
static void put_single(int call) {
    int elements = rank % 3 + call % 2;
    /* In two calls after another, two ranks put many elements of the same block. */
    if (call % 11 == 0 && rank == call % ranks) elements = many;
    if (call % 11 == 1 && rank == (call + ranks - 2) % ranks) elements = many;
    for (int i = 0; i < elements; i++) {
        const MPI_Offset start[] = {i * 3 % lines, turn(call) + i % width}, count[] = {1, 1};
        post(single, start, count, call + i * 100);
    }
}

static void put_records(int call) {
    if (call % 5 == rank % 3) return;
    const MPI_Offset start[] = {call % 4, call % 2, turn(call)}, count[] = {1 + call % 2, 3, width};
    post(records, start, count, call * 10 + rank);
}

/* Puts without requests between the calls. */
static void put_plain(int call) {
    const MPI_Offset start[] = {call % lines, turn(call + 1)}, count[] = {1, width};
    if (call % 4 == 1) post(plain, start, count, call);
    if (call % 4 != 3) return;
    for (int i = 0; i < width; i++) back[i] = call * 2 + rank;
    const int code = ncmpi_put_vara_double_all(id, plain, start, count, back);
    if (code != NC_NOERR) printf("rank %d: put %d\n", rank, code);
}

static void read_all(void) {
    for (int variable = blocks; variable <= records; variable++) {
        long long sum = 0;
        const int record = variable == records;
        for (int r = 0; r < (record ? 5 : 1); r++) {
            const MPI_Offset start[] = {r, 0, 0}, count[] = {1, lines, columns};
            const int code =
                ncmpi_get_vara_double_all(id, variable, start + !record, count + !record, back);
            say("get", code);
            for (int i = 0; i < lines * columns; i++) sum = sum * 31 + (long long)(back[i] * 1024);
        }
        say("sum", sum);
    }
}

static void write_all(double value) {
    for (int i = 0; i < lines * columns; i++) back[i] = value;
    for (int variable = blocks; variable <= records; variable++) {
        const int record = variable == records;
        for (int r = 0; r < (record ? 5 : 1); r++) {
            const MPI_Offset start[] = {r, 0, 0}, count[] = {1, lines, columns};
            SAY(ncmpi_put_vara_double_all(id, variable, start + !record, count + !record, back));
        }
    }
}

/* Puts records of one section each, and then of two pieces, and changes the array after each put.
 * In the background, the ranks pass the eleventh put to the library at once. */
static void put_pieces(const char* path) {
    int dims[2], v = 0, x[4] = {0};
    MPI_Offset at[2][2], half[] = {1, 2}, whole[] = {1, 4};
    MPI_Offset *starts[] = {at[0], at[1]}, *counts[] = {half, half};
    SAY(ncmpi_create(MPI_COMM_WORLD, path, NC_64BIT_DATA, MPI_INFO_NULL, &id));
    ncmpi_def_dim(id, "time", NC_UNLIMITED, &dims[0]);
    ncmpi_def_dim(id, "x", 4 * ranks, &dims[1]);
    ncmpi_def_var(id, "v", NC_INT, 2, dims, &v);
    SAY(ncmpi_enddef(id));
    for (int r = 0; r < 28; r++) { /* then read the 14 records */
        for (int i = 0; i < 4; i++) x[i] = 100 * r + 10 * rank + i;
        for (int i = 0; i < 2; i++) at[i][0] = r % 14, at[i][1] = 4 * rank + 2 * i;
        SAY(r >= 14  ? ncmpi_get_vara_int_all(id, v, at[0], whole, x)
            : r < 10 ? ncmpi_put_vara_int_all(id, v, at[0], whole, x)
                     : ncmpi_put_varn_int_all(id, v, 2, starts, counts, x));
        say("sum", x[0] + x[1] + 7 * x[2] + 13 * x[3]);
    }
    SAY(ncmpi_close(id));
}

int main(int argc, char** argv) {
    int dims[3];
    MPI_Offset length = 0;
    start(&argc, &argv);
    if (argc != 2 || ranks * width > most_columns) MPI_Abort(MPI_COMM_WORLD, 2);
    put_pieces(argv[1]);
    columns = ranks * width;
    SAY(ncmpi_create(MPI_COMM_WORLD, argv[1], NC_64BIT_DATA, MPI_INFO_NULL, &id));
    ncmpi_def_dim(id, "time", NC_UNLIMITED, &dims[0]);
    ncmpi_def_dim(id, "y", lines, &dims[1]);
    ncmpi_def_dim(id, "x", columns, &dims[2]);
    ncmpi_def_var(id, "blocks", NC_DOUBLE, 2, dims + 1, &blocks);
    ncmpi_def_var(id, "rows", NC_DOUBLE, 2, dims + 1, &rows);
    ncmpi_def_var(id, "single", NC_DOUBLE, 2, dims + 1, &single);
    ncmpi_def_var(id, "plain", NC_DOUBLE, 2, dims + 1, &plain);
    ncmpi_def_var(id, "records", NC_DOUBLE, 3, dims, &records);
    SAY(ncmpi_enddef(id));
    write_all(-1);
    for (int call = 0; call < calls; call++) {
        n = 0;
        put_blocks(call);
        put_rows(call);
        put_single(call);
        put_records(call);
        put_plain(call);
        const int code = ncmpi_wait_all(id, n, requests, NULL);
        if (code != NC_NOERR) printf("rank %d: wait %d\n", rank, code);
        if (call % 40 == 0) SAY(ncmpi_inq_dimlen(id, dims[0], &length));
        if (call == 56) read_all(); /* after two calls with many puts */
    }
    say("records", length);
    read_all();
    SAY(ncmpi_close(id));
    MPI_Finalize();
    return 0;
}
