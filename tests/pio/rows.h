/* A file of rows that the ranks take in turn, and its contents as netCDF-C reads them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PIO_ROWS_H
#define PIO_ROWS_H

#include <math.h>

#include "system.h"

enum { NX = 12, NY = 5 };

static int ios;
static int pnetcdf = PIO_IOTYPE_PNETCDF;

/* Makes a decomposition of the rows, which the ranks take in turn, with a hole at the end of each
 * array. */
static inline int dealt_rows(int type, int* length) {
    PIO_Offset map[NX * NY + 1];
    const int dims[] = {NY, NX};
    int n = 0, ioid = 0;
    for (int j = rank; j < NY; j += ranks)
        for (int i = 0; i < NX; i++) map[n++] = j * NX + i + 1;
    map[n++] = 0;
    IS(PIOc_InitDecomp(ios, type, 2, dims, n, map, &ioid, NULL, NULL, NULL), 0);
    *length = n;
    return ioid;
}

static inline void fill_rows(double* data, double plus) {
    int n = 0;
    for (int j = rank; j < NY; j += ranks)
        for (int i = 0; i < NX; i++) data[n++] = j * NX + i + plus;
    data[n] = -1;
}

typedef struct {
    int ncid, time, y, x, v;
} file_t;

static inline file_t new_file(const char* path, int iotype, int mode) {
    file_t f = {0};
    const char title[] = "a test";
    OK(PIOc_createfile(ios, &f.ncid, &iotype, path, mode));
    OK(PIOc_def_dim(f.ncid, "time", PIO_UNLIMITED, &f.time));
    OK(PIOc_def_dim(f.ncid, "y", NY, &f.y));
    OK(PIOc_def_dim(f.ncid, "x", NX, &f.x));
    const int dims[] = {f.time, f.y, f.x};
    OK(PIOc_def_var(f.ncid, "v", PIO_DOUBLE, 3, dims, &f.v));
    OK(PIOc_put_att_text(f.ncid, f.v, "title", sizeof title - 1, title));
    return f;
}

/* Checks, on one rank, that record r of v has the values that fill_rows has put. */
static inline void expect_record(const char* path, int r, double plus) {
    MPI_Barrier(world);
    if (rank != 0) return;
    int ncid, varid;
    double got[NY * NX];
    const size_t start[] = {(size_t)r, 0, 0}, count[] = {1, NY, NX};
    OK(nc_open(path, NC_NOWRITE, &ncid));
    OK(nc_inq_varid(ncid, "v", &varid));
    OK(nc_get_vara_double(ncid, varid, start, count, got));
    for (int i = 0; i < NY * NX; i++)
        if (got[i] != i + plus) {
            CHECK(!"a value differs");
            fprintf(stderr, "%s, record %d, element %d: %g\n", path, r, i, got[i]);
            break;
        }
    OK(nc_close(ncid));
}

static inline void write_record(const file_t* f, int ioid, int length, int frame, double plus) {
    double data[NX * NY + 1];
    fill_rows(data, plus);
    OK(PIOc_setframe(f->ncid, f->v, frame));
    OK(PIOc_write_darray(f->ncid, f->v, ioid, length, data, NULL));
    for (int i = 0; i < length; i++) data[i] = NAN; /* the program may change its array now */
}

#endif
