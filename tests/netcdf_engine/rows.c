/* Tests, call by call, that files with a communicator give the codes and results of netCDF-C.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include <fenv.h>
#include <mpi.h>
#include <netcdf.h>
#include <netcdf_par.h>
#include <stdlib.h>
#include <unistd.h>

#include "expect.h"

static int is_netcdf4(void) { return (mode & NC_NETCDF4) != 0; }
static int is_full(void) { return mode == NC_NETCDF4; }

static int id, n_dim, t_dim, v, w;
enum { per_rank = 4 };
static size_t start[2], count[2];

static void fresh(const char* path) {
    EXPECT(0, nc_create_par(path, NC_CLOBBER | mode, MPI_COMM_WORLD, MPI_INFO_NULL, &id));
    EXPECT(0, nc_def_dim(id, "n", (size_t)(per_rank * ranks), &n_dim));
    EXPECT(0, nc_def_dim(id, "t", NC_UNLIMITED, &t_dim));
    EXPECT(0, nc_def_var(id, "v", NC_FLOAT, 1, &n_dim, &v));
    const int dims[2] = {t_dim, n_dim};
    EXPECT(0, nc_def_var(id, "w", NC_SHORT, 2, dims, &w));
}

static long length(int dim) {
    size_t n = 0;
    EXPECT(0, nc_inq_dimlen(id, dim, &n));
    return (long)n;
}

static void section(size_t a, size_t b, size_t m, size_t n) {
    start[0] = a, start[1] = b, count[0] = m, count[1] = n;
}

static void definitions(void) {
    int k = 0;
    float x[2] = {1, 2};
    fresh("definitions.nc");
    const int swapped[2] = {n_dim, t_dim};
    EXPECT(is_full() ? 0 : NC_EINDEFINE, nc_redef(id));
    EXPECT(NC_ENAMEINUSE, nc_def_dim(id, "n", 4, &k));
    EXPECT(NC_EBADNAME, nc_def_dim(id, "", 4, &k));
    EXPECT(NC_EBADNAME, nc_def_dim(id, "a/b", 4, &k));
    EXPECT(NC_EBADTYPE, nc_def_var(id, "x", 99, 0, NULL, &k));
    if (!is_full()) {
        EXPECT(NC_EUNLIMIT, nc_def_dim(id, "t2", NC_UNLIMITED, &k));
        EXPECT(NC_EUNLIMPOS, nc_def_var(id, "swapped", NC_INT, 2, swapped, &k));
    }
    if (mode == 0) EXPECT(NC_EBADTYPE, nc_def_var(id, "u", NC_UINT64, 0, NULL, &k));
    if (is_netcdf4() && !is_full()) {
        EXPECT(NC_ESTRICTNC3, nc_def_var(id, "u", NC_UINT64, 0, NULL, &k));
        EXPECT(NC_EINVAL, nc_def_var_chunking(id, v, NC_COMPACT, NULL));
    }
    EXPECT(is_netcdf4() ? 0 : NC_ENOTNC4, nc_def_var_deflate(id, w, 1, 1, 1));
    EXPECT(0, nc_put_att_text(id, NC_GLOBAL, "title", 5, "hello"));
    EXPECT(NC_ERANGE, nc_put_att_double(id, v, "big", NC_SHORT, 1, (double[]){1e9}));
    EXPECT(NC_EBADDIM, nc_inq_dim(id, 77, NULL, NULL));
    EXPECT(NC_EBADDIM, nc_inq_dimid(id, "none", &k));
    EXPECT(NC_ENOTVAR, nc_inq_varid(id, "none", &k));
    EXPECT(NC_ENOTATT, nc_inq_att(id, NC_GLOBAL, "none", NULL, NULL));
    if (!is_full()) {
        section(0, 0, 1, 1);
        EXPECT(NC_EINDEFINE, nc_put_vara_float(id, v, start, count, x));
    }
    EXPECT(0, nc_enddef(id));
    EXPECT(NC_ENOTINDEFINE, nc_enddef(id));
    if (is_netcdf4()) {
        EXPECT(NC_ELATEDEF, nc_def_var_deflate(id, v, 1, 1, 1));
        EXPECT(NC_ELATEFILL, nc_put_att_float(id, v, "_FillValue", NC_FLOAT, 1, x));
    }
    if (!is_full()) {
        EXPECT(NC_ENOTINDEFINE, nc_put_att_text(id, NC_GLOBAL, "new", 3, "abc"));
        EXPECT(NC_ENOTINDEFINE, nc_put_att_text(id, NC_GLOBAL, "title", 16, "longer0123456789"));
        EXPECT(is_netcdf4() ? NC_ENOTINDEFINE : 0,
               nc_put_att_text(id, NC_GLOBAL, "title", 6, "hello!"));
        EXPECT(NC_ENOTINDEFINE, nc_del_att(id, NC_GLOBAL, "title"));
        EXPECT(NC_ENOTINDEFINE, nc_rename_var(id, v, "vv"));
        EXPECT(NC_ENAMEINUSE, nc_rename_var(id, v, "v"));
        EXPECT(NC_ENOTINDEFINE, nc_def_dim(id, "late", 3, &k));
    }
    EXPECT(0, nc_put_att_text(id, NC_GLOBAL, "title", 5, "world"));
    EXPECT(0, nc_set_fill(id, NC_NOFILL, &k));
    EXPECT(NC_FILL, k);
    EXPECT(NC_EINVAL, nc_set_fill(id, 7, &k));
    int format = 0, extended = 0;
    EXPECT(0, nc_inq_format_extended(id, &format, &extended));
    EXPECT(is_netcdf4() ? NC_FORMATX_NC_HDF5 : NC_FORMATX_PNETCDF, format);
    EXPECT(0, nc_inq_unlimdim(id, &k));
    EXPECT(t_dim, k);
    EXPECT(NC_EINVAL, nc_var_par_access(id, w, 77));
    EXPECT(0, nc_close(id));
    EXPECT(NC_EBADID, nc_close(id));
}

static void data(void) {
    float x[16];
    short z[64];
    double y[per_rank] = {1, 2, 3, 4};
    for (int i = 0; i < 16; i++) x[i] = (float)i;
    fresh("data.nc");
    EXPECT(0, nc_enddef(id));
    section((size_t)(per_rank * rank), 0, per_rank, 1);
    EXPECT(0, nc_put_vara_float(id, v, start, count, x));
    section(rank > 0 ? 2 : 5, (size_t)(per_rank * rank), 1, per_rank);
    if (is_netcdf4() && ranks > 1)
        EXPECT(NC_ECANTEXTEND, nc_put_vara_float(id, w, start, count, x));
    EXPECT(0, nc_var_par_access(id, w, NC_COLLECTIVE));
    EXPECT(0, nc_put_vara_float(id, w, start, count, x));
    EXPECT(6, length(t_dim));
    /* One rank puts a value that does not fit the type. */
    y[1] = rank == ranks - 1 ? 1e9 : 2;
    start[0] = 0;
    EXPECT(rank == ranks - 1 ? NC_ERANGE : 0, nc_put_vara_double(id, w, start, count, y));
    section(0, 0, 1, (size_t)(per_rank * ranks));
    EXPECT(0, nc_get_vara_short(id, w, start, count, z));
    EXPECT(NC_FILL_SHORT, z[per_rank * (ranks - 1) + 1]);
    EXPECT(3, z[2]);
    start[0] = 4;
    EXPECT(0, nc_get_vara_short(id, w, start, count, z));
    EXPECT(NC_FILL_SHORT, z[0]);
    /* One rank passes wrong arguments, which must not affect the others. */
    const int wrong = rank == ranks - 1;
    section(1, wrong ? (size_t)(per_rank * ranks + 1) : 0, 1, 1);
    EXPECT(wrong ? NC_EINVALCOORDS : 0, nc_put_vara_float(id, w, start, count, x));
    section(1, 0, 1, wrong ? (size_t)(per_rank * ranks + 1) : 1);
    EXPECT(wrong ? NC_EEDGE : 0, nc_put_vara_float(id, w, start, count, x));
    EXPECT(wrong ? NC_EEDGE : 0, nc_get_vara_short(id, w, start, count, z));
    if (wrong)
        EXPECT(NC_ECHAR, nc_put_vara_text(id, w, start, count, "abcd"));
    else
        EXPECT(0, nc_put_vara_float(id, w, start, count, x));
    const ptrdiff_t stride[2] = {0, 1};
    section(1, 0, 1, 1);
    if (wrong)
        EXPECT(NC_ESTRIDE, nc_put_vars_float(id, w, start, count, stride, x));
    else
        EXPECT(0, nc_put_vara_float(id, w, start, count, x));
    /* Strided calls without a type, and with one element in two. */
    const ptrdiff_t every[2] = {1, 2};
    short pair[2] = {7, 8};
    section(5, 0, 1, 2);
    EXPECT(0, nc_put_vars(id, w, start, count, every, pair));
    pair[1] = 0;
    EXPECT(0, nc_get_vars(id, w, start, count, every, pair));
    EXPECT(8, pair[1]);
    EXPECT(NC_ENOTVAR, nc_put_vara_float(id, 77, start, count, x));
    EXPECT(is_netcdf4() ? NC_ENOTVAR : NC_EGLOBAL,
           nc_put_vara_float(id, NC_GLOBAL, start, count, x));
    /* All ranks but one put no elements, at the end of a dimension, which netCDF permits. */
    section(1, rank == 0 ? 0 : (size_t)(per_rank * ranks), 1, rank == 0 ? 2 : 0);
    EXPECT(0, nc_put_vara_float(id, w, start, count, x));
    EXPECT(0, nc_get_vara_short(id, w, start, count, z));
    /* A later collective put replaces elements that another rank has put earlier. */
    for (int turn = 0; turn < 3; turn++) {
        section(3, (size_t)(per_rank * ((rank + turn) % ranks)), 1, per_rank);
        for (int i = 0; i < per_rank; i++) x[i] = (float)(100 * turn + rank);
        EXPECT(0, nc_put_vara_float(id, w, start, count, x));
    }
    section(3, 0, 1, (size_t)(per_rank * ranks));
    EXPECT(0, nc_get_vara_short(id, w, start, count, z));
    for (int i = 0; i < per_rank * ranks; i++)
        EXPECT(200 + (i / per_rank + 3 * ranks - 2) % ranks, z[i]);
    EXPECT(0, nc_sync(id));
    EXPECT(6, length(t_dim));
    EXPECT(0, nc_close(id));
}

/* Values that other types cannot hold, and sizes that the format cannot hold. */
static void limits(void) {
    int large = 0, whole = 0, byte = 0, k = 0;
    const double nan = strtod("nan", NULL), big = 1e20;
    const unsigned char twohundred = 200;
    signed char got = 0;
    fresh("limits.nc");
    EXPECT(0, nc_def_var(id, "whole", NC_INT, 1, &n_dim, &whole));
    EXPECT(0, nc_def_var(id, "byte", NC_BYTE, 1, &n_dim, &byte));
    EXPECT(NC_ERANGE, nc_put_att_double(id, whole, "nan", NC_INT, 1, &nan));
    EXPECT(0, nc_enddef(id));
    section((size_t)(per_rank * rank), 0, 1, 1);
    EXPECT(NC_ERANGE, nc_put_vara_double(id, whole, start, count, &nan));
    EXPECT(0, nc_get_vara_int(id, whole, start, count, &k));
    EXPECT(NC_FILL_INT, k);
    EXPECT(0, nc_put_vara_double(id, v, start, count, &nan));
    EXPECT(NC_ERANGE, nc_get_vara_int(id, v, start, count, &k));
    EXPECT(NC_FILL_INT, k);
    EXPECT(NC_ERANGE, nc_put_vara_double(id, whole, start, count, &big));
    EXPECT(0, nc_get_vara_int(id, whole, start, count, &k));
    EXPECT(NC_FILL_INT, k);
    const int signs = mode == NC_64BIT_DATA || is_full(); /* the model has unsigned bytes */
    if (signs || !is_netcdf4()) {
        EXPECT(signs ? NC_ERANGE : 0, nc_put_vara_uchar(id, byte, start, count, &twohundred));
        EXPECT(0, nc_get_vara_schar(id, byte, start, count, &got));
        EXPECT(signs ? NC_FILL_BYTE : -56, got);
    }
    EXPECT(0, nc_close(id));
    if (mode != 0) return;
    fresh("limits.nc");
    EXPECT(NC_EDIMSIZE, nc_def_dim(id, "negative", (size_t)-1, &k));
    EXPECT(NC_EDIMSIZE, nc_def_dim(id, "huge", (size_t)1 << 32, &k));
    EXPECT(0, nc_def_dim(id, "large", (size_t)1 << 30, &large));
    EXPECT(0, nc_def_var(id, "first", NC_INT, 1, &large, &k));
    EXPECT(0, nc_def_var(id, "second", NC_INT, 1, &large, &k));
    EXPECT(NC_EVARSIZE, nc_enddef(id));
    EXPECT(0, nc_abort(id));
}

static void opening(void) {
    float x[1] = {1};
    int k = 0;
    EXPECT(NC_EEXIST,
           nc_create_par("data.nc", NC_NOCLOBBER | mode, MPI_COMM_WORLD, MPI_INFO_NULL, &id));
    EXPECT(is_netcdf4() ? 13 : 2,
           nc_create_par("nodir/a.nc", mode, MPI_COMM_WORLD, MPI_INFO_NULL, &id));
    EXPECT(0, nc_open_par("data.nc", NC_NOWRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &id));
    EXPECT(0, nc_inq_varid(id, "w", &w));
    EXPECT(0, nc_inq_dimid(id, "t", &t_dim));
    EXPECT(6, length(t_dim));
    /* Each rank puts independently, at any time. */
    short z[per_rank];
    for (int i = 0; i < rank; i++) {
        section(3, (size_t)(per_rank * i), 1, per_rank);
        EXPECT(0, nc_get_vara_short(id, w, start, count, z));
        EXPECT(200 + (i + 3 * ranks - 2) % ranks, z[0]);
    }
    EXPECT(0, nc_var_par_access(id, w, NC_COLLECTIVE));
    section(3, 0, 1, rank == 0 ? 0 : 2);
    EXPECT(0, nc_get_vara_short(id, w, start, count, z));
    EXPECT(NC_EPERM, nc_put_vara_float(id, w, start, count, x));
    EXPECT(NC_EPERM, nc_redef(id));
    EXPECT(NC_EPERM, nc_put_att_text(id, NC_GLOBAL, "a", 1, "b"));
    EXPECT(NC_ENOTINDEFINE, nc_enddef(id));
    EXPECT(NC_EPERM, nc_set_fill(id, NC_FILL, &k));
    EXPECT(0, nc_close(id));
}

static void aborting(void) {
    fresh("aborted.nc");
    EXPECT(0, nc_abort(id));
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT(-1, access("aborted.nc", F_OK));
    fresh("aborted.nc");
    EXPECT(0, nc_enddef(id));
    EXPECT(0, nc_abort(id));
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT(0, access("aborted.nc", F_OK));
    /* Definitions in a file that was put to, which begin with or without nc_redef. */
    for (int implicit = 0; implicit <= is_full(); implicit++) {
        int k = 0, other = 0;
        short x[per_rank] = {1, 2, 3, (short)(7 + implicit)};
        EXPECT(0, nc_open_par("aborted.nc", NC_WRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &id));
        EXPECT(0, nc_var_par_access(id, w, NC_COLLECTIVE));
        section(0, (size_t)(per_rank * rank), 1, per_rank);
        EXPECT(0, nc_put_vara_short(id, w, start, count, x));
        if (!implicit) EXPECT(0, nc_redef(id));
        EXPECT(NC_ENAMEINUSE, nc_def_dim(id, "n", 3, &k));
        EXPECT(0, nc_def_dim(id, "late", 3, &k));
        EXPECT(0, nc_def_var(id, "late", NC_INT, 1, &k, &other));
        EXPECT(0, nc_rename_var(id, w, "renamed"));
        EXPECT(0, nc_put_att_text(id, v, "units", 1, "m"));
        int kind = -1;
        if (is_netcdf4()) EXPECT(0, nc_inq_var_chunking(id, w, &kind, NULL));
        if (is_netcdf4()) EXPECT(NC_CHUNKED, kind);
        if (is_netcdf4()) EXPECT(0, nc_inq_var_deflate(id, other, &kind, NULL, NULL));
        EXPECT(0, nc_abort(id));
        EXPECT(0, nc_open_par("aborted.nc", NC_NOWRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &id));
        EXPECT(NC_EBADDIM, nc_inq_dimid(id, "late", &k));
        EXPECT(NC_ENOTVAR, nc_inq_varid(id, "late", &k));
        EXPECT(NC_ENOTATT, nc_inq_att(id, v, "units", NULL, NULL));
        EXPECT(0, nc_inq_varid(id, "w", &k));
        EXPECT(w, k);
        section(0, 0, 1, (size_t)(per_rank * ranks));
        short all[64] = {0};
        EXPECT(0, nc_get_vara_short(id, w, start, count, all));
        for (int i = 0; i < per_rank * ranks; i++) EXPECT(x[i % per_rank], all[i]);
        EXPECT(0, nc_close(id));
    }
}

/* Tests that no call of rank 0, which puts most variables, waits for the other ranks, which put
 * nothing. */
static void alone(void) {
    float x[64] = {0};
    fresh("alone.nc");
    EXPECT(0, nc_enddef(id));
    for (int i = 0; i < 5 && rank == 0; i++) {
        section((size_t)(i % per_rank), 0, 1, 1);
        x[0] = (float)i;
        EXPECT(0, nc_put_vara_float(id, v, start, count, x));
        float own = -1;
        EXPECT(0, nc_get_vara_float(id, v, start, count, &own));
        EXPECT(i, (long)own);
    }
    EXPECT(0, nc_close(id));
    EXPECT(0, nc_open_par("alone.nc", NC_NOWRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &id));
    section(0, 0, per_rank, 1);
    EXPECT(0, nc_get_vara_float(id, v, start, count, x));
    EXPECT(4, (long)x[0]);
    EXPECT(3, (long)x[3]);
    EXPECT(0, nc_close(id));
}

/* Tests Zarr stores, which are netCDF-4 files to the program, also without communicator. */
static void stores(void) {
    int k = 0, kind = 0;
    size_t n = 0;
    short z[per_rank] = {1, 2, 3, 4};
    if (rank == 0) EXPECT(0, system("rm -rf data.nc alone.nc store.nc"));
    MPI_Barrier(MPI_COMM_WORLD);
    mode = NC_NETCDF4;
    data();
    opening();
    alone();
    mode = NC_64BIT_OFFSET;
    fresh("store.nc");
    EXPECT(NC_ESTRICTNC3, nc_def_grp(id, "inside", &k));
    EXPECT(0, nc_def_var_deflate(id, w, 1, 1, 2));
    EXPECT(0, nc_enddef(id));
    EXPECT(0, nc_var_par_access(id, w, NC_COLLECTIVE));
    section(0, (size_t)(per_rank * rank), 1, per_rank);
    EXPECT(0, nc_put_vara_short(id, w, start, count, z));
    EXPECT(0, nc_close(id));
    EXPECT(0, access("store.nc/zarr.json", F_OK));
    EXPECT(0, nc_open_par("store.nc", NC_WRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &id));
    EXPECT(0, nc_var_par_access(id, w, NC_COLLECTIVE));
    section(1, (size_t)(per_rank * rank), 1, per_rank);
    EXPECT(0, nc_put_vara_short(id, w, start, count, z));
    EXPECT(0, nc_put_att_text(id, NC_GLOBAL, "title", 5, "again"));
    EXPECT(0, nc_close(id));
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT(0, nc_open("store.nc", NC_NOWRITE, &id)); /* each rank for itself */
    EXPECT(0, nc_inq_format(id, &kind));
    EXPECT(NC_FORMAT_NETCDF4, kind);
    EXPECT(0, nc_inq_var_chunking(id, w, &kind, NULL));
    EXPECT(NC_CHUNKED, kind);
    EXPECT(0, nc_inq_attlen(id, NC_GLOBAL, "title", &n));
    EXPECT(5, (long)n);
    for (size_t r = 0; r < 2; r++) {
        section(r, (size_t)(per_rank * (ranks - 1)), 1, per_rank);
        z[3] = 0;
        EXPECT(0, nc_get_vara_short(id, w, start, count, z));
        EXPECT(4, z[3]);
    }
    EXPECT(0, nc_close(id));
}

int main(int argc, char** argv) {
    const int traps = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW;
    MPI_Init(&argc, &argv);
    feenableexcept(traps); /* values that do not fit raise none */
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int modes[] = {0, NC_64BIT_OFFSET, NC_64BIT_DATA, NC_NETCDF4,
                         NC_NETCDF4 | NC_CLASSIC_MODEL};
    if (argc > 1) stores();
    for (size_t i = 0; argc == 1 && i < sizeof modes / sizeof *modes; i++) {
        mode = modes[i];
        definitions();
        data();
        limits();
        opening();
        aborting();
        alone();
    }
    EXPECT(traps, fegetexcept());
    int all = failures;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return all > 0;
}
