/* Ends ranks without MPI_Finalize, as models do after an error. Usage: exits HOW [closed]
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "pio/check.h"

int main(int argc, char** argv) {
    int ios, ncid, dim, var, iotype = PIO_IOTYPE_PNETCDF;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    OK(PIOc_Init_Intracomm(MPI_COMM_WORLD, 1, 1, 0, PIO_REARR_BOX, &ios));
    OK(PIOc_createfile(ios, &ncid, &iotype, "exits.nc", PIO_CLOBBER));
    OK(PIOc_def_dim(ncid, "x", 4, &dim));
    OK(PIOc_def_var(ncid, "v", PIO_INT, 1, &dim, &var));
    OK(PIOc_enddef(ncid));
    if (argc > 2 || strcmp(argv[1], "finalized") == 0) OK(PIOc_closefile(ncid));
    if (strcmp(argv[1], "finalized") == 0) OK(PIOc_finalize(ios));
    if (strcmp(argv[1], "all") == 0 || rank == ranks - 1) exit(3);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
