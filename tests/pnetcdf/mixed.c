/* Writes records by buffered puts, pieces in another order than that of the file, strides, requests
 * of two ranks only, and MPI datatypes in between, and prints what each rank got.
 *
 * Usage: mixed FILE
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <string.h>

#include "say.h"

enum { columns = 30, rows = 8, levels = 5, plane = rows * columns, records = 3 };

static int id;
static int temp, salt, land, grid, row; /* variables */
static float levels_of[levels * plane];
static long long salts[plane];
static double points[plane];
static unsigned char lands[plane];
static short shorts[plane];

static void define(const char* path) {
    int dims[4];
    SAY(ncmpi_create(MPI_COMM_WORLD, path, NC_64BIT_DATA, MPI_INFO_NULL, &id));
    ncmpi_def_dim(id, "time", NC_UNLIMITED, &dims[0]);
    ncmpi_def_dim(id, "lev", levels, &dims[1]);
    ncmpi_def_dim(id, "y", (MPI_Offset)rows * ranks, &dims[2]);
    ncmpi_def_dim(id, "x", columns, &dims[3]);
    ncmpi_def_var(id, "temp", NC_FLOAT, 4, dims, &temp);
    const int flat[] = {dims[0], dims[2], dims[3]};
    ncmpi_def_var(id, "salt", NC_INT64, 3, flat, &salt);
    ncmpi_def_var(id, "land", NC_UBYTE, 2, dims + 2, &land);
    ncmpi_def_var(id, "grid", NC_DOUBLE, 2, dims + 2, &grid);
    ncmpi_def_var(id, "row", NC_SHORT, 2, flat, &row);
    SAY(ncmpi_enddef(id));
}

static void make(int record) {
    for (int i = 0; i < levels * plane; i++)
        levels_of[i] = (float)(record * 1000 + rank * 100 + i % 77);
    for (int i = 0; i < plane; i++) {
        salts[i] = (1LL << 40) + record * 7 + rank + i;
        points[i] = i * .5 + record;
        lands[i] = (unsigned char)((rank + i + record) % 251);
        shorts[i] = (short)(i - record);
    }
}

/* Posts the halves of this rank's rows, the last row first. */
static int post_salt(int record, int* request) {
    static MPI_Offset start[2 * rows][3], count[2 * rows][3];
    MPI_Offset *starts[2 * rows], *counts[2 * rows];
    for (int i = 0; i < 2 * rows; i++) {
        const int half = columns / 2, second = i % 2;
        start[i][0] = record;
        start[i][1] = rows * rank + rows - 1 - i / 2;
        start[i][2] = second ? half : 0;
        count[i][0] = count[i][1] = 1;
        count[i][2] = second ? columns - half : half;
        starts[i] = start[i];
        counts[i] = count[i];
    }
    return record == 1
               ? ncmpi_bput_varn_longlong(id, salt, 2 * rows, starts, counts, salts, request)
               : ncmpi_iput_varn_longlong(id, salt, 2 * rows, starts, counts, salts, request);
}

/* Puts and gets this rank's rows of the grid by a datatype of their places. */
static void put_grid(void) {
    const int all[] = {rows * ranks, columns}, mine[] = {rows, columns}, at[] = {rows * rank, 0};
    MPI_Datatype places;
    MPI_Type_create_subarray(2, all, mine, at, MPI_ORDER_C, MPI_DOUBLE, &places);
    MPI_Type_commit(&places);
    SAY(ncmpi_put_vard_all(id, grid, places, points, plane, MPI_DOUBLE));
    memset(points, 0, sizeof points);
    SAY(ncmpi_get_vard_all(id, grid, places, points, plane, MPI_DOUBLE));
    say("point", (long long)(points[37] * 2));
    MPI_Type_free(&places);
}

static void write_record(int record) {
    int requests[4], statuses[4], n = 0, left = 0;
    MPI_Offset usage = 0;
    make(record);
    const MPI_Offset start[] = {record, 0, rows * rank, 0}, count[] = {1, levels, rows, columns};
    SAY(ncmpi_bput_vara_float(id, temp, start, count, levels_of, &requests[n++]));
    memset(levels_of, 0, sizeof levels_of);
    SAY(post_salt(record, &requests[n++]));
    const MPI_Offset corner[] = {rows * rank, record}, few[] = {rows, columns / 3}, step[] = {1, 3};
    SAY(ncmpi_iput_vars_uchar(id, land, corner, few, step, lands, &requests[n++]));
    /* The last rank puts its own rows, the first one those of all others. */
    const int last = rank == ranks - 1;
    const MPI_Offset first[] = {record, rows * rank},
                     size[] = {1, last ? rows : rows * (ranks - 1)};
    if (rank == 0 || last) ncmpi_iput_vara_short(id, row, first, size, shorts, &requests[n++]);
    SAY(ncmpi_inq_nreqs(id, &left));
    say("requests", left);
    put_grid();
    SAY(ncmpi_inq_buffer_usage(id, &usage));
    say("usage", usage);
    if (record == records - 1) {
        SAY(ncmpi_wait_all(id, NC_PUT_REQ_ALL, NULL, NULL));
    } else {
        SAY(ncmpi_wait_all(id, n, requests, statuses));
        for (int i = 0; i < 3; i++) say("status", statuses[i] + requests[i]);
    }
    SAY(ncmpi_inq_nreqs(id, &left));
    say("requests", left);
}

static void read_record(int record) {
    const MPI_Offset start[] = {record, 0, rows * rank, 0}, count[] = {1, levels, rows, columns};
    const MPI_Offset first[] = {record, rows * rank, 0}, size[] = {1, rows, columns};
    int requests[2], statuses[2];
    long long sum = 0;
    SAY(ncmpi_iget_vara_float(id, temp, start, count, levels_of, &requests[0]));
    SAY(ncmpi_iget_vara_longlong(id, salt, first, size, salts, &requests[1]));
    SAY(ncmpi_wait_all(id, 2, requests, statuses));
    for (int i = 0; i < levels * plane; i++) sum = sum * 31 + (long long)levels_of[i];
    for (int i = 0; i < plane; i++) sum = sum * 31 + salts[i];
    say("sum", sum);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 2) MPI_Abort(MPI_COMM_WORLD, 2);
    define(argv[1]);
    SAY(ncmpi_buffer_attach(id, sizeof levels_of + sizeof salts));
    for (int record = 0; record < records; record++) write_record(record);
    SAY(ncmpi_buffer_detach(id));
    read_record(1);
    SAY(ncmpi_close(id));
    MPI_Finalize();
    return 0;
}
