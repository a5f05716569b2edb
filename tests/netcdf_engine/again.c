/* Tests files that are opened again, while they are written or later, and calls that are right on
 * some ranks only. Expects the codes and data of netCDF-C.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <mpi.h>
#include <netcdf.h>
#include <netcdf_filter.h>
#include <netcdf_par.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "expect.h"

enum { per_rank = 5 };
static int id, dims[2], x, fixed;
static size_t start[2], count[2];

static void define(const char* path) {
    EXPECT(0, nc_create_par(path, NC_CLOBBER | mode, MPI_COMM_WORLD, MPI_INFO_NULL, &id));
    EXPECT(0, nc_def_dim(id, "t", NC_UNLIMITED, &dims[0]));
    EXPECT(0, nc_def_dim(id, "n", (size_t)(per_rank * ranks), &dims[1]));
    EXPECT(0, nc_def_var(id, "x", NC_FLOAT, 2, dims, &x));
    EXPECT(0, nc_def_var(id, "fixed", NC_INT, 1, &dims[1], &fixed));
    EXPECT(0, nc_put_att_text(id, NC_GLOBAL, "history", 4, "zero"));
    EXPECT(NC_EINVAL, nc_put_att_int(id, fixed, "_FillValue", NC_INT, 2, dims));
    EXPECT(NC_EBADTYPE, nc_put_att_float(id, fixed, "_FillValue", NC_FLOAT, 1, (float[]){1}));
    EXPECT(0, nc_enddef(id));
    EXPECT(0, nc_var_par_access(id, x, NC_COLLECTIVE));
}

static void open_all(const char* path, int how) {
    EXPECT(0, nc_open_par(path, how, MPI_COMM_WORLD, MPI_INFO_NULL, &id));
    EXPECT(0, nc_var_par_access(id, x, NC_COLLECTIVE));
}

static float value(size_t record, int column) { return (float)(1000 * record) + (float)column; }

static void put(size_t record) {
    float row[per_rank];
    start[0] = record, start[1] = (size_t)(per_rank * rank), count[0] = 1, count[1] = per_rank;
    for (int i = 0; i < per_rank; i++) row[i] = value(record, per_rank * rank + i);
    EXPECT(0, nc_put_vara_float(id, x, start, count, row));
}

static void check(int file, size_t records) {
    size_t length = 0;
    EXPECT(0, nc_inq_dimlen(file, dims[0], &length));
    EXPECT((long)records, (long)length);
    const int n = per_rank * ranks;
    float* const all = calloc(records * (size_t)n + 1, sizeof *all);
    start[0] = start[1] = 0, count[0] = records, count[1] = (size_t)n;
    EXPECT(0, nc_get_vara_float(file, x, start, count, all));
    long wrong = 0;
    for (size_t r = 0; r < records; r++)
        for (int i = 0; i < n; i++) wrong += all[r * (size_t)n + (size_t)i] != value(r, i);
    EXPECT(0, wrong);
    free(all);
}

/* Tests a run that continues the file of an earlier run, and another one that adds definitions. */
static void continued(void) {
    char text[16] = "";
    int late = 0, numbers[per_rank], known = 0;
    size_t n = 0;
    define("continued.nc");
    for (size_t r = 0; r < 2; r++) put(r);
    EXPECT(0, nc_close(id));
    open_all("continued.nc", NC_WRITE);
    EXPECT(0, nc_put_att_text(id, NC_GLOBAL, "history", 4, "half"));
    for (size_t r = 2; r < 4; r++) put(r);
    check(id, 4);
    EXPECT(0, nc_close(id));
    open_all("continued.nc", NC_WRITE);
    EXPECT(0, nc_redef(id));
    EXPECT(0, nc_put_att_text(id, NC_GLOBAL, "history", 11, "much longer"));
    EXPECT(0, nc_def_var(id, "late", NC_INT, 1, &dims[1], &late));
    EXPECT(0, nc_enddef(id));
    put(4);
    for (int i = 0; i < per_rank; i++) numbers[i] = 10 * rank + i;
    EXPECT(0, nc_put_vara_int(id, late, start + 1, count + 1, numbers));
    EXPECT(0, nc_close(id));
    /* Adds only an attribute. */
    open_all("continued.nc", NC_WRITE);
    EXPECT(0, nc_put_att_text(id, NC_GLOBAL, "history", 4, "last"));
    EXPECT(0, nc_close(id));
    open_all("continued.nc", NC_NOWRITE);
    check(id, 5);
    EXPECT(0, nc_inq_attlen(id, NC_GLOBAL, "history", &n));
    EXPECT(4, (long)n);
    EXPECT(0, nc_get_att_text(id, NC_GLOBAL, "history", text));
    EXPECT(0, strcmp(text, "last"));
    EXPECT(0, nc_inq_varid(id, "late", &known));
    EXPECT(late, known);
    start[0] = (size_t)(per_rank * rank), count[0] = per_rank;
    EXPECT(0, nc_get_vara_int(id, late, start, count, numbers));
    EXPECT(10 * rank + per_rank - 1, numbers[per_rank - 1]);
    EXPECT(0, nc_close(id));
}

/* Tests second ids of a file that is being written, by which all ranks, and later one rank alone,
 * read it. */
static void second(void) {
    int other = 0;
    define("second.nc");
    put(0);
    EXPECT(0, nc_open_par("second.nc", NC_NOWRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &other));
    EXPECT(0, nc_var_par_access(other, x, NC_COLLECTIVE));
    check(other, 1);
    EXPECT(NC_EPERM, nc_put_vara_float(other, x, start, count, (float[per_rank]){0}));
    EXPECT(0, nc_close(other));
    EXPECT(NC_EPERM, nc_open_par("./second.nc", NC_WRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &other));
    put(1);
    EXPECT(0, nc_sync(id));
    if (rank == ranks - 1) {
        EXPECT(0, nc_open("second.nc", NC_NOWRITE, &other));
        check(other, 2);
        EXPECT(0, nc_close(other));
    }
    put(2);
    EXPECT(0, nc_close(id));
    open_all("second.nc", NC_NOWRITE);
    check(id, 3);
    EXPECT(0, nc_close(id));
}

/* Tests a rank that passes a variable that does not exist. Later calls of the ranks may differ, but
 * all of them must end. */
static void wrong_on_one(void) {
    float row[4 * per_rank] = {0};
    const int wrong = rank == ranks - 1;
    define("wrong.nc");
    put(0);
    start[0] = 1, start[1] = (size_t)(per_rank * rank), count[0] = 1, count[1] = per_rank;
    EXPECT(wrong ? NC_ENOTVAR : 0, nc_put_vara_float(id, wrong ? 99 : x, start, count, row));
    EXPECT(0, nc_close(id));
    define("wrong.nc");
    put(0);
    EXPECT(0, nc_var_par_access(id, fixed, NC_COLLECTIVE));
    EXPECT(wrong ? NC_ENOTVAR : 0,
           nc_get_vara_float(id, wrong ? 99 : x, (size_t[2]){0, 0}, count, row));
    EXPECT(0, nc_close(id));
    if (mode != NC_NETCDF4) return;
    /* Filters make the access collective: a wrong variable may stand for one with filters. */
    EXPECT(0, nc_create_par("wrong.nc", mode, MPI_COMM_WORLD, MPI_INFO_NULL, &id));
    EXPECT(0, nc_def_dim(id, "n", (size_t)(per_rank * ranks), &dims[1]));
    EXPECT(0, nc_def_var(id, "x", NC_FLOAT, 1, &dims[1], &x));
    EXPECT(0, nc_def_var_deflate(id, x, 0, 1, 1));
    EXPECT(0, nc_enddef(id));
    EXPECT(0, nc_put_vara_float(id, x, start + 1, count + 1, row));
    EXPECT(wrong ? NC_ENOTVAR : 0,
           nc_get_vara_float(id, wrong ? 99 : x, start + 1, count + 1, row));
    EXPECT(0, nc_close(id));
    EXPECT(0, nc_open_par("wrong.nc", 0, MPI_COMM_WORLD, MPI_INFO_NULL, &id));
    EXPECT(0, nc_close(id));
}

/* Tests a put of no elements to a record variable without records. */
static void no_records(void) {
    size_t length = 77;
    float row[1] = {0};
    define("none.nc");
    EXPECT(0, nc_put_var_float(id, x, row));
    EXPECT(0, nc_close(id));
    EXPECT(0, nc_open_par("none.nc", 0, MPI_COMM_WORLD, MPI_INFO_NULL, &id));
    EXPECT(0, nc_inq_dimlen(id, dims[0], &length));
    EXPECT(0, (long)length);
    EXPECT(0, nc_close(id));
}

/* Inquiries that do not apply to the file's format. */
static void inquiries(void) {
    const int is_netcdf4 = (mode & NC_NETCDF4) != 0;
    int type = 0, n = 77, m = 77;
    size_t filters = 77;
    unsigned filter = 77;
    define("inquiries.nc");
    EXPECT(0, nc_inq_typeid(id, "float", &type));
    EXPECT(NC_FLOAT, type);
    EXPECT(is_netcdf4 ? NC_EBADTYPE : NC_ENOTNC4, nc_inq_typeid(id, "none", &type));
    EXPECT(is_netcdf4 ? NC_EBADTYPE : NC_ENOTNC4,
           nc_inq_user_type(id, 40, NULL, NULL, NULL, NULL, NULL));
    EXPECT(0, nc_inq_var_filter_ids(id, x, &filters, NULL));
    EXPECT(0, (long)filters);
    EXPECT(0, nc_inq_var_filter(id, x, &filter, &filters, NULL));
    EXPECT(0, (long)filter);
    EXPECT(is_netcdf4 ? 0 : NC_ENOTNC4, nc_inq_var_quantize(id, x, &n, &m));
    EXPECT(0, nc_close(id));
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int modes[] = {0, NC_64BIT_DATA, NC_NETCDF4, NC_NETCDF4 | NC_CLASSIC_MODEL};
    for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
        mode = modes[m];
        continued();
        second();
        wrong_on_one();
        no_records();
        inquiries();
    }
    MPI_Finalize();
    return failures != 0;
}
