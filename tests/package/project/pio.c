/* SPDX-License-Identifier: Apache-2.0
 *
 * A program written for PIO, which must find the header and the library.
 */
#include <pio.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int ios, ncid, dim, var, iotype = PIO_IOTYPE_NETCDF, ones[] = {1, 1, 1}, code = 0;
    code |= PIOc_Init_Intracomm(MPI_COMM_WORLD, 1, 1, 0, PIO_REARR_BOX, &ios);
    code |= PIOc_createfile(ios, &ncid, &iotype, "pio.nc", PIO_CLOBBER);
    code |= PIOc_def_dim(ncid, "x", 3, &dim);
    code |= PIOc_def_var(ncid, "v", PIO_INT, 1, &dim, &var);
    code |= PIOc_enddef(ncid);
    code |= PIOc_put_var_int(ncid, var, ones);
    code |= PIOc_closefile(ncid);
    code |= PIOc_finalize(ios);
    MPI_Finalize();
    return code;
}
