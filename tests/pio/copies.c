/* Tests that a program may change its arrays when PIOc_write_darray returns: blocks with halos,
 * lists, several files open at once, values that do not fit, a frame written again, and full
 * buffers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "system.h"

#include <stdlib.h>

enum { NX = 12, NY = 5, FRAMES = 3, FILES = 3, HALO = 1 };

/* Rank r holds the rows from NY r to NY r + NY - 1, in two forms: `blocks` is an array with a halo,
 * `list` contains the columns backwards. */
static int blocks, list, ios;

static double value(int file, int frame, int j, int i) {
    return 10000 * file + 1000 * frame + 20 * j + i;
}

static void describe(void) {
    const int lengths[] = {NY * ranks, NX};
    PIO_Offset map[(NY + 2 * HALO) * (NX + 2 * HALO)], turned[NY * NX];
    int n = 0;
    for (int j = -HALO; j < NY + HALO; j++)
        for (int i = -HALO; i < NX + HALO; i++) {
            const int inside = j >= 0 && j < NY && i >= 0 && i < NX;
            map[n++] = inside ? (PIO_Offset)(NY * rank + j) * NX + i + 1 : 0;
        }
    OK(PIOc_InitDecomp(ios, PIO_DOUBLE, 2, lengths, n, map, &blocks, NULL, NULL, NULL));
    n = 0;
    for (int i = NX - 1; i >= 0; i--)
        for (int j = 0; j < NY; j++) turned[n++] = (PIO_Offset)(NY * rank + j) * NX + i + 1;
    OK(PIOc_InitDecomp(ios, PIO_DOUBLE, 2, lengths, n, turned, &list, NULL, NULL, NULL));
}

static void put_blocks(int ncid, int var, int file, int frame) {
    double a[NY + 2 * HALO][NX + 2 * HALO];
    for (int j = 0; j < NY + 2 * HALO; j++)
        for (int i = 0; i < NX + 2 * HALO; i++)
            a[j][i] = value(file, frame, NY * rank + j - HALO, i - HALO);
    OK(PIOc_setframe(ncid, var, frame));
    OK(PIOc_write_darray(ncid, var, blocks, sizeof a / sizeof a[0][0], a, NULL));
    for (int j = 0; j < NY + 2 * HALO; j++)
        for (int i = 0; i < NX + 2 * HALO; i++) a[j][i] = -1;
}

/* Puts the list. @param expected expected result; if it is an error, one value is made too large
 * for the variable */
static void put_list(int ncid, int var, int file, int frame, int expected) {
    double* const a = malloc(sizeof(double) * NY * NX);
    int n = 0;
    for (int i = NX - 1; i >= 0; i--)
        for (int j = 0; j < NY; j++) a[n++] = value(file, frame, NY * rank + j, i);
    if (expected != 0) a[0] = 1e300;
    OK(PIOc_setframe(ncid, var, frame));
    IS(PIOc_write_darray(ncid, var, list, n, a, NULL), expected);
    for (int k = 0; k < n; k++) a[k] = -2;
    free(a);
}

static void write_files(void) {
    int id[FILES], dims[3], same, large, iotype = PIO_IOTYPE_PNETCDF;
    char name[32];
    for (int f = 0; f < FILES; f++) {
        snprintf(name, sizeof name, "copies%d.nc", f);
        OK(PIOc_createfile(ios, &id[f], &iotype, name, PIO_CLOBBER));
        OK(PIOc_def_dim(id[f], "time", PIO_UNLIMITED, &dims[0]));
        OK(PIOc_def_dim(id[f], "y", NY * ranks, &dims[1]));
        OK(PIOc_def_dim(id[f], "x", NX, &dims[2]));
        OK(PIOc_def_var(id[f], "halo", PIO_DOUBLE, 3, dims, &same));
        OK(PIOc_def_var(id[f], "list", PIO_DOUBLE, 3, dims, &same));
        OK(PIOc_def_var(id[f], "small", PIO_FLOAT, 3, dims, &large));
        OK(PIOc_enddef(id[f]));
    }
    for (int frame = FRAMES - 1; frame >= 0; frame--)
        for (int f = 0; f < FILES; f++) {
            put_blocks(id[f], 0, f + 7, frame); /* overwritten below */
            put_blocks(id[f], 0, f, frame);
            put_list(id[f], 1, f, frame, 0);
            put_list(id[f], 2, f, frame, frame == 1 ? NC_ERANGE : 0);
        }
    OK(PIOc_sync(id[1]));
    put_blocks(id[1], 0, 1, 0);
    for (int f = FILES - 1; f >= 0; f--) OK(PIOc_closefile(id[f]));
}

static void expect_files(void) {
    static const char* const names[] = {"halo", "list", "small"};
    double* const got = malloc(sizeof(double) * FRAMES * NY * ranks * NX);
    for (int f = 0; f < FILES; f++) {
        char name[32];
        int id, wrong = 0;
        snprintf(name, sizeof name, "copies%d.nc", f);
        OK(nc_open(name, NC_NOWRITE, &id));
        for (int v = 0; v < 3; v++) {
            int varid;
            OK(nc_inq_varid(id, names[v], &varid));
            OK(nc_get_var_double(id, varid, got));
            for (int t = 0, k = 0; t < FRAMES; t++)
                for (int j = 0; j < NY * ranks; j++)
                    for (int i = 0; i < NX; i++, k++) {
                        const int lost = v == 2 && t == 1 && j % NY == 0 && i == NX - 1;
                        wrong += got[k] != (lost ? (double)NC_FILL_FLOAT : value(f, t, j, i));
                    }
        }
        CHECK(wrong == 0);
        OK(nc_close(id));
    }
    free(got);
}

int main(int argc, char** argv) {
    const PIO_Offset limits[] = {64 << 20, 4096, 1};
    if (!begin_system(argc, argv, 0, &ios)) return failures == 0 ? 0 : 1;
    describe();
    for (int pass = 0; pass < 3; pass++) {
        PIOc_set_buffer_size_limit(limits[pass]);
        write_files();
        if (rank == 0) expect_files();
        MPI_Barrier(world);
    }
    OK(PIOc_freedecomp(ios, blocks));
    OK(PIOc_freedecomp(ios, list));
    OK(PIOc_finalize(ios));
    MPI_Finalize();
    return failures == 0 ? 0 : 1;
}
