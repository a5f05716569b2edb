/* Counts the collective calls of MPI of files as CICE writes them: 90 variables by 10
 * decompositions, which are described anew for each file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/count_mpi.h"
#include "system.h"

enum { NX = 64, VARIABLES = 90, DECOMPOSITIONS = 10 };

static int ios;

/* Writes a file. Returns the number of MPI's collective calls, on the rank with most. */
static int write_file(const char* path) {
    const int before = count_mpi().collectives;
    int ncid, x, t, v[VARIABLES], ioid[DECOMPOSITIONS], z[DECOMPOSITIONS];
    int iotype = PIO_IOTYPE_PNETCDF;
    char name[8];
    static PIO_Offset map[NX * DECOMPOSITIONS];
    static float data[NX * DECOMPOSITIONS];
    const int width = NX * ranks;
    for (int d = 0; d < DECOMPOSITIONS; d++) {
        const int lengths[] = {d + 1, width};
        for (int k = 0; k <= d; k++)
            for (int i = 0; i < NX; i++) map[k * NX + i] = k * width + rank * NX + i + 1;
        map[0] = 0; /* a hole, such as a point on land */
        OK(PIOc_InitDecomp(ios, PIO_FLOAT, 2, lengths, NX * (d + 1), map, &ioid[d], NULL, NULL,
                           NULL));
    }
    OK(PIOc_createfile(ios, &ncid, &iotype, path, PIO_CLOBBER | PIO_64BIT_DATA));
    OK(PIOc_def_dim(ncid, "time", PIO_UNLIMITED, &t));
    OK(PIOc_def_dim(ncid, "x", width, &x));
    for (int d = 0; d < DECOMPOSITIONS; d++) {
        snprintf(name, sizeof name, "z%d", d);
        OK(PIOc_def_dim(ncid, name, d + 1, &z[d]));
    }
    for (int i = 0; i < VARIABLES; i++) {
        const int dims[] = {t, z[i % DECOMPOSITIONS], x};
        snprintf(name, sizeof name, "v%d", i);
        OK(PIOc_def_var(ncid, name, PIO_FLOAT, 3, dims, &v[i]));
        OK(PIOc_put_att_text(ncid, v[i], "units", 4, "kg/m"));
    }
    OK(PIOc_enddef(ncid));
    for (int i = 0; i < VARIABLES; i++) {
        const int d = i % DECOMPOSITIONS;
        OK(PIOc_setframe(ncid, v[i], 0));
        OK(PIOc_write_darray(ncid, v[i], ioid[d], NX * (d + 1), data, NULL));
    }
    OK(PIOc_closefile(ncid));
    for (int d = 0; d < DECOMPOSITIONS; d++) OK(PIOc_freedecomp(ios, ioid[d]));
    int most = count_mpi().collectives - before;
    PMPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

int main(int argc, char** argv) {
    if (!begin_system(argc, argv, 1, &ios)) return failures == 0 ? 0 : 1;
    const int first = write_file("first.nc"), second = write_file("second.nc");
    if (getenv("THALWEG_TEST_TRACE") != NULL && rank == 0) trace_mpi(1);
    const int third = write_file("third.nc");
    trace_mpi(0);
    if (rank == 0)
        printf("PIO, 90 variables and 10 decompositions: %d, %d, %d collectives a file\n", first,
               second, third);
    const char* const nodes = getenv("THALWEG_NODE_SIZE");
    const int several = nodes != NULL && ranks > atoi(nodes);
    CHECK(third <= (several ? 12 : 3));
    IS(second, third);
    OK(PIOc_free_iosystem(ios));
    MPI_Finalize();
    return failures == 0 ? 0 : 1;
}
