/* SPDX-License-Identifier: Apache-2.0
 *
 * A program written for PnetCDF, which must find the header and the library.
 */
#include <pnetcdf.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int ncid, dim, var, ones[] = {1, 1, 1}, code = 0;
    code |= ncmpi_create(MPI_COMM_WORLD, argv[1], NC_CLOBBER, MPI_INFO_NULL, &ncid);
    code |= ncmpi_def_dim(ncid, "x", 3, &dim);
    code |= ncmpi_def_var(ncid, "v", NC_INT, 1, &dim, &var);
    code |= ncmpi_enddef(ncid);
    code |= ncmpi_put_var_int_all(ncid, var, ones);
    code |= ncmpi_close(ncid);
    MPI_Finalize();
    return code;
}
