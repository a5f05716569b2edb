/* Tests the cost of PIOc_sync: it writes the data that were put, and does nothing for data that
 * nobody reads.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "system.h"

enum { NX = 64, VARIABLES = 90 };

static int ios, collectives;

/* These functions replace those of MPI and count the calls. */
int MPI_Allreduce(const void* in, void* out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    collectives++;
    return PMPI_Allreduce(in, out, n, type, op, comm);
}

int MPI_Bcast(void* data, int n, MPI_Datatype type, int root, MPI_Comm comm) {
    collectives++;
    return PMPI_Bcast(data, n, type, root, comm);
}

/* Returns the bytes that this process has read so far. */
static long bytes_read(void) {
    long bytes = -1;
    FILE* const io = fopen("/proc/self/io", "r");
    if (io == NULL) return 0;
    if (fscanf(io, "rchar: %ld", &bytes) != 1) bytes = 0;
    fclose(io);
    return bytes;
}

typedef struct {
    int calls;
    long bytes;
} cost_t;

static cost_t cost_of(int (*call)(int), int ncid) {
    const int calls = collectives;
    const long before = bytes_read();
    OK(call(ncid));
    return (cost_t){collectives - calls, bytes_read() - before};
}

static void syncs(int iotype, const char* path) {
    int ncid, x, t, v[VARIABLES], ioid;
    char name[8];
    const int length = NX * ranks;
    PIO_Offset map[NX];
    float data[NX], got[NX];
    for (int i = 0; i < NX; i++) map[i] = rank * NX + i + 1, data[i] = (float)(rank * NX + i);
    OK(PIOc_InitDecomp(ios, PIO_FLOAT, 1, &length, NX, map, &ioid, NULL, NULL, NULL));
    OK(PIOc_createfile(ios, &ncid, &iotype, path, PIO_CLOBBER));
    OK(PIOc_def_dim(ncid, "t", PIO_UNLIMITED, &t));
    OK(PIOc_def_dim(ncid, "x", length, &x));
    const int dims[] = {t, x};
    for (int i = 0; i < VARIABLES; i++) {
        snprintf(name, sizeof name, "v%d", i);
        OK(PIOc_def_var(ncid, name, PIO_FLOAT, 2, dims, &v[i]));
        for (int k = 0; k < 6; k++) {
            snprintf(name, sizeof name, "a%d", k);
            OK(PIOc_put_att_text(ncid, v[i], name, 20, "a text of 20 letters"));
        }
    }
    OK(PIOc_enddef(ncid));
    for (int r = 0; r < 3; r++) {
        for (int i = 0; i < VARIABLES; i++) {
            OK(PIOc_setframe(ncid, v[i], r));
            OK(PIOc_write_darray(ncid, v[i], ioid, NX, data, NULL));
        }
        const cost_t with_data = cost_of(PIOc_sync, ncid), without = cost_of(PIOc_sync, ncid);
        CHECK(rank == 0 || with_data.bytes < 20000); /* only the writer reads HDF5's index */
        CHECK(without.bytes < 2000);
        IS(without.calls, 1);
        IS(cost_of(PIOc_flush, ncid).calls, 1);
    }
    OK(PIOc_setframe(ncid, v[7], 1));
    OK(PIOc_read_darray(ncid, v[7], ioid, NX, got));
    CHECK(memcmp(data, got, sizeof got) == 0);
    OK(PIOc_freedecomp(ios, ioid));
    OK(PIOc_closefile(ncid));
}

int main(int argc, char** argv) {
    if (!begin_system(argc, argv, 1, &ios)) return failures == 0 ? 0 : 1;
    syncs(PIO_IOTYPE_PNETCDF, "syncs.nc");
    syncs(PIO_IOTYPE_NETCDF4P, "syncs4.nc");
    OK(PIOc_free_iosystem(ios));
    MPI_Finalize();
    return failures == 0 ? 0 : 1;
}
