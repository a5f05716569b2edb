/* Puts by PIO's names.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <pio.h>

#include "passes.h"

/* Describes rows with `halo` holes before and after each, and makes an array of them. */
static float* decompose(int ios, int halo, int* d) {
    const int width = NX * ranks, lengths[] = {NZ, rows, width}, row = NX + 2 * halo;
    const PIO_Offset n = elements() / NX * row;
    PIO_Offset* const map = malloc((size_t)n * sizeof *map);
    float* const array = malloc((size_t)n * sizeof *array);
    for (PIO_Offset i = 0; i < n; i++) {
        const PIO_Offset x = i % row - halo;
        const int held = x >= 0 && x < NX;
        map[i] = held ? i / row * width + rank * NX + x + 1 : 0;
        array[i] = held ? values[i / row * NX + x] : -1;
    }
    OK(PIOc_InitDecomp(ios, PIO_FLOAT, 3, lengths, (int)n, map, d, NULL, NULL, NULL));
    free(map);
    return array;
}

/* Puts arrays without and with holes. */
int main(int argc, char** argv) {
    begin(argc, argv);
    int ios, id, d[VARIABLES], dims[4], v[VARIABLES], iotype = PIO_IOTYPE_PNETCDF;
    char name[8];
    const int width = NX * ranks;
    float* arrays[VARIABLES];
    OK(PIOc_Init_Intracomm(MPI_COMM_WORLD, 1, 1, 0, PIO_REARR_BOX, &ios));
    for (int i = 0; i < VARIABLES; i++) arrays[i] = decompose(ios, i, &d[i]);
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
            OK(PIOc_write_darray(id, v[i], d[i], elements() / NX * (NX + 2 * i), arrays[i], NULL));
        }
        OK(PIOc_sync(id));
    }
    OK(PIOc_closefile(id));
    for (int i = 0; i < VARIABLES; i++) {
        OK(PIOc_freedecomp(ios, d[i]));
        free(arrays[i]);
    }
    OK(PIOc_free_iosystem(ios));
    return finish("PIO's names", ranks);
}
