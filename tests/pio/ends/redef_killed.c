/* Writes a file, changes its definitions with PIOc_enddef, and judges the file: `redef_killed
 * FORMAT write`; then `change`, which another program kills; then `look`, which prints if the file
 * is the old or the new one. In netCDF-4, `change` also adds a record.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "pio/check.h"

#define N 3000
#define RECORDS 3

static int added; /* number of records in the file */

static int value(int record, int i) { return 10000 * record + i; }

static void put_record(int ncid, int v, int r) {
    const PIO_Offset start[] = {r, 0}, count[] = {1, N};
    int data[N];
    for (int i = 0; i < N; i++) data[i] = value(r, i);
    OK(PIOc_put_vara_int(ncid, v, start, count, data));
}

static void write_file(int ios, int iotype) {
    int ncid, dims[2], v;
    OK(PIOc_createfile(ios, &ncid, &iotype, "killed.nc", PIO_CLOBBER));
    OK(PIOc_def_dim(ncid, "time", PIO_UNLIMITED, &dims[0]));
    OK(PIOc_def_dim(ncid, "x", N, &dims[1]));
    OK(PIOc_def_var(ncid, "v", PIO_INT, 2, dims, &v));
    OK(PIOc_enddef(ncid));
    for (int r = 0; r < RECORDS; r++) put_record(ncid, v, r);
    OK(PIOc_closefile(ncid));
}

static void change(int ios) {
    int iotype = PIO_IOTYPE_PNETCDF, ncid, x, v;
    OK(PIOc_openfile(ios, &ncid, &iotype, "killed.nc", PIO_WRITE));
    if (added > 0) put_record(ncid, 0, RECORDS);
    OK(PIOc_redef(ncid));
    OK(PIOc_inq_dimid(ncid, "x", &x));
    OK(PIOc_def_var(ncid, "late", PIO_DOUBLE, 1, &x, &v)); /* this definition moves the records */
    OK(PIOc_enddef(ncid));
    OK(PIOc_closefile(ncid));
}

static void look(void) {
    int ncid, v, data[N];
    size_t records = 0;
    OK(nc_open("killed.nc", NC_NOWRITE, &ncid));
    OK(nc_inq_dimlen(ncid, 0, &records));
    const int is_new = nc_inq_varid(ncid, "late", &v) == NC_NOERR;
    const size_t expected = (size_t)(RECORDS + (is_new ? added : 0));
    CHECK(records == expected);
    OK(nc_inq_varid(ncid, "v", &v));
    for (int r = 0; r < (int)records; r++) {
        const size_t start[] = {(size_t)r, 0}, count[] = {1, N};
        OK(nc_get_vara_int(ncid, v, start, count, data));
        for (int i = 0; i < N; i++) CHECK(data[i] == value(r, i));
    }
    printf("%s\n", is_new ? "new" : "old");
    OK(nc_close(ncid));
}

int main(int argc, char** argv) {
    const char* const what = argc > 2 ? argv[2] : "";
    const int is_netcdf4 = argc > 1 && strcmp(argv[1], "netcdf4") == 0;
    int ios = 0;
    added = is_netcdf4 ? 1 : 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    OK(PIOc_Init_Intracomm(MPI_COMM_WORLD, 1, 1, 0, PIO_REARR_BOX, &ios));
    if (strcmp(what, "write") == 0)
        write_file(ios, is_netcdf4 ? PIO_IOTYPE_NETCDF4P : PIO_IOTYPE_PNETCDF);
    else if (strcmp(what, "change") == 0)
        change(ios);
    else
        look();
    OK(PIOc_finalize(ios));
    MPI_Finalize();
    return failures == 0 ? 0 : 1;
}
