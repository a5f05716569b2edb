/* A C program like those that were written for CFIO.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Usage: program X Y RATIO FILE. Writes two steps, each to its own file, and then both steps to
 * one file. */
#include <cfio.h>
#include <stdio.h>
#include <string.h>

/* Declared here because CFIO's header lacks this function. */
int cfio_put_vara_int(int ncid, int varid, int dim, size_t* start, size_t* count, int* fp);

static const int nlat = 12;
static const int nlon = 24;

int main(int argc, char** argv) {
    int rank = 0;
    int size = 0;
    int ncid = 0;
    int dimids[3];
    int var[3];
    size_t size_of_double = 0;
    size_t start[3] = {0, 0, 0};
    size_t count[3] = {1, 0, 0};
    char name[300];
    char title[] = "a program in C";

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 5) {
        return 1;
    }
    const int x = atoi(argv[1]);
    const int y = atoi(argv[2]);

    cfio_init(x, y, atoi(argv[3]));
    CFIO_START(rank);

    /* The first dimension is divided over x, the second over y; the remainder goes to the last
     * client. */
    start[1] = (size_t)(rank % x * (nlat / x));
    start[2] = (size_t)(rank / x * (nlon / y));
    count[1] = (size_t)(rank % x == x - 1 ? nlat - (int)start[1] : nlat / x);
    count[2] = (size_t)(rank / x == y - 1 ? nlon - (int)start[2] : nlon / y);
    float* sst = malloc(count[1] * count[2] * sizeof *sst);
    cfio_types_size(size_of_double, CFIO_DOUBLE);
    if (size_of_double != sizeof(double) || CLIENT_BUF_SIZE < size_of_double ||
        cfio_type_to_nc(CFIO_SHORT) != NC_SHORT || cfio_type_to_nc((cfio_type)77) != NC_NAT) {
        return 1;
    }
    double* ssh = malloc(count[1] * count[2] * size_of_double);
    int* mask = malloc(count[1] * count[2] * sizeof *mask);

    for (int step = 0; step < 2; ++step) {
        for (size_t i = 0; i < count[1]; ++i) {
            for (size_t j = 0; j < count[2]; ++j) {
                const int place = (int)((start[1] + i) * (size_t)nlon + start[2] + j);
                sst[i * count[2] + j] = (float)(1000 * step + place);
                ssh[i * count[2] + j] = -sst[i * count[2] + j];
                mask[i * count[2] + j] = place % 2;
            }
        }
        snprintf(name, sizeof name, "%s-%d.nc", argv[4], step);
        cfio_create(name, NC_64BIT_OFFSET, &ncid);
        cfio_def_dim(ncid, "lat", (size_t)nlat, &dimids[0]);
        cfio_def_dim(ncid, "lon", (size_t)nlon, &dimids[1]);
        cfio_put_att(ncid, NC_GLOBAL, "title", CFIO_CHAR, strlen(title), title);
        cfio_put_att(ncid, NC_GLOBAL, "step", CFIO_INT, 1, &step);
        cfio_def_var(ncid, "sst", CFIO_FLOAT, 2, dimids, start + 1, count + 1, &var[0]);
        cfio_def_var(ncid, "ssh", NC_DOUBLE, 2, dimids, start + 1, count + 1, &var[1]);
        cfio_def_var(ncid, "mask", cfio_type_to_nc(CFIO_INT), 2, dimids, start + 1, count + 1,
                     &var[2]);
        cfio_enddef(ncid);
        cfio_put_vara_float(ncid, var[0], 2, start + 1, count + 1, sst);
        cfio_put_vara_double(ncid, var[1], 2, start + 1, count + 1, ssh);
        cfio_put_vara_int(ncid, var[2], 2, start + 1, count + 1, mask);
        cfio_close(ncid);
        cfio_io_end();
    }
    free(sst);
    free(ssh);
    free(mask);

    CFIO_END();
    int code = cfio_finalize();
    if (cfio_proc_type(rank) < CFIO_PROC_CLIENT || cfio_proc_type() > CFIO_PROC_BLANK) {
        code = 1;
    }
    MPI_Finalize();
    return code == 0 ? 0 : 1;
}
