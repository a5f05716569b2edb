/* Makes errors at which PIO stops the program, one per run. Usage: stops CASE. The case "quiet"
 * continues without a message.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "pio/check.h"

static int ios, ncid, v, ioid;

static void begin(const char* path) {
    int iotype = PIO_IOTYPE_PNETCDF, dims[2];
    OK(PIOc_createfile(ios, &ncid, &iotype, path, PIO_CLOBBER));
    OK(PIOc_def_dim(ncid, "time", PIO_UNLIMITED, &dims[0]));
    OK(PIOc_def_dim(ncid, "x", 2 * ranks, &dims[1]));
    OK(PIOc_def_var(ncid, "v", PIO_INT, 2, dims, &v));
    OK(PIOc_enddef(ncid));
    const PIO_Offset map[] = {2 * rank + 1, 2 * rank + 2};
    const int lengths[] = {2 * ranks};
    OK(PIOc_InitDecomp(ios, PIO_INT, 1, lengths, 2, map, &ioid, NULL, NULL, NULL));
}

int main(int argc, char** argv) {
    const char* const what = argc > 1 ? argv[1] : "";
    int id = 0, iotype = PIO_IOTYPE_NETCDF, data[] = {1, 2};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    OK(PIOc_Init_Intracomm(MPI_COMM_WORLD, 1, 1, 0, PIO_REARR_BOX, &ios));
    if (strcmp(what, "quiet") == 0) { /* asks for missing objects, as models do */
        begin("quiet.nc");
        OK(PIOc_closefile(ncid));
        OK(PIOc_openfile(ios, &ncid, &iotype, "quiet.nc", PIO_NOWRITE));
        int old = 0;
        OK(PIOc_set_iosystem_error_handling(ios, PIO_BCAST_ERROR, &old));
        IS(old, PIO_INTERNAL_ERROR);
        IS(PIOc_inq_varid(ncid, "none", &id), NC_ENOTVAR);
        IS(PIOc_inq_att(ncid, v, "none", NULL, NULL), NC_ENOTATT);
        IS(PIOc_openfile(ios, &id, &iotype, "none.nc", PIO_NOWRITE), 2);
        OK(PIOc_set_iosystem_error_handling(ios, old, NULL));
        OK(PIOc_closefile(ncid));
    } else if (strcmp(what, "variable") == 0) {
        begin("variable.nc");
        PIOc_inq_varid(ncid, "none", &id);
    } else if (strcmp(what, "file") == 0) {
        PIOc_openfile(ios, &id, &iotype, "none.nc", PIO_NOWRITE);
    } else if (strcmp(what, "short") == 0) {
        begin("short.nc");
        OK(PIOc_setframe(ncid, v, 0));
        PIOc_write_darray(ncid, v, ioid, rank == ranks - 1 ? 1 : 2, data, NULL);
        PIOc_sync(ncid);
    } else if (strcmp(what, "id") == 0) {
        PIOc_closefile(99);
    } else if (strcmp(what, "late") == 0) { /* a preloaded library makes the writes fail */
        OK(PIOc_set_iosystem_error_handling(ios, PIO_RETURN_ERROR, NULL));
        begin("late.nc");
        int told = 0;
        for (int t = 0; t < 3; t++) {
            OK(PIOc_setframe(ncid, v, t));
            const int put = PIOc_write_darray(ncid, v, ioid, 2, data, NULL);
            CHECK(!told || put != 0);
            told |= put != 0;
            told |= PIOc_sync(ncid) != 0;
        }
        told |= PIOc_closefile(ncid) != 0;
        CHECK(told);
        IS(PIOc_openfile(ios, &id, &iotype, "late.nc", PIO_NOWRITE), 2);
    } else {
        CHECK(!"a case of this name");
    }
    OK(PIOc_finalize(ios));
    MPI_Finalize();
    return failures == 0 ? 0 : 1;
}
