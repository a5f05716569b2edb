/* Puts by PIO's names.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <pio.h>

#include "passes.h"

int main(int argc, char** argv) {
    begin(argc, argv);
    int ios, id, d, dims[4], v[VARIABLES], iotype = PIO_IOTYPE_PNETCDF;
    char name[8];
    const int width = NX * ranks, lengths[] = {NZ, rows, width};
    PIO_Offset* const map = malloc((size_t)elements() * sizeof *map);
    for (PIO_Offset i = 0; i < elements(); i++) map[i] = i / NX * width + rank * NX + i % NX + 1;
    OK(PIOc_Init_Intracomm(MPI_COMM_WORLD, 1, 1, 0, PIO_REARR_BOX, &ios));
    OK(PIOc_InitDecomp(ios, PIO_FLOAT, 3, lengths, (int)elements(), map, &d, NULL, NULL, NULL));
    OK(PIOc_createfile(ios, &id, &iotype, "pio.nc", PIO_CLOBBER | PIO_64BIT_DATA));
    OK(PIOc_def_dim(id, "time", PIO_UNLIMITED, &dims[0]));
    OK(PIOc_def_dim(id, "z", NZ, &dims[1]));
    OK(PIOc_def_dim(id, "y", rows, &dims[2]));
    OK(PIOc_def_dim(id, "x", width, &dims[3]));
    for (int i = 0; i < VARIABLES; i++) {
        snprintf(name, sizeof name, "v%d", i);
        OK(PIOc_def_var(id, name, PIO_FLOAT, 4, dims, &v[i]));
    }
    OK(PIOc_enddef(id));
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < VARIABLES; i++) {
            OK(PIOc_setframe(id, v[i], step));
            OK(PIOc_write_darray(id, v[i], d, elements(), values, NULL));
        }
        OK(PIOc_sync(id));
    }
    OK(PIOc_closefile(id));
    OK(PIOc_freedecomp(ios, d));
    OK(PIOc_free_iosystem(ios));
    free(map);
    return finish("PIO's names", ranks);
}
