/* Writes more than there is room for. The call that meets first after the failed write returns the
 * system's error on all ranks, and so does every later put, sync and the close.
 *
 * Usage: full_disk PATH MODE CODE: the system's number of the error
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <mpi.h>
#include <netcdf.h>
#include <netcdf_par.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { records = 40, mine = 1 << 18 }; /* 1 MiB of a rank in a record */

static int rank, ranks, failures;

/* Returns the code of a collective call; counts a failure if it differs between ranks. */
static int same(int code) {
    int codes[2] = {code, -code};
    MPI_Allreduce(MPI_IN_PLACE, codes, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (codes[0] != -codes[1]) {
        failures++;
        fprintf(stderr, "rank %d: code %d, which differs between ranks\n", rank, code);
    }
    return code;
}

int main(int argc, char** argv) {
    int id = 0, dims[2], v = 0, failed = 0, closed = 0;
    if (argc < 4) return 2;
    alarm(50); /* end the program if it hangs */
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    float* const values = calloc(mine, sizeof *values);
    const int mode = (int)strtol(argv[2], NULL, 0), expected = atoi(argv[3]);
    int code = same(nc_create_par(argv[1], mode, MPI_COMM_WORLD, MPI_INFO_NULL, &id));
    if (code == 0) {
        nc_def_dim(id, "t", NC_UNLIMITED, &dims[0]);
        nc_def_dim(id, "x", (size_t)mine * (size_t)ranks, &dims[1]);
        nc_def_var(id, "v", NC_FLOAT, 2, dims, &v);
        nc_enddef(id);
        nc_var_par_access(id, v, NC_COLLECTIVE);
    }
    for (size_t r = 0; r < records && code == 0; r++) {
        const size_t start[2] = {r, (size_t)mine * (size_t)rank}, count[2] = {1, mine};
        code = same(nc_put_vara_float(id, v, start, count, values));
        if (code == 0 && r % 8 == 7) code = same(nc_sync(id));
        if (code == 0) continue;
        failed = code;
        for (int again = 0; again < 2; again++) {
            code = same(nc_put_vara_float(id, v, start, count, values));
            if (code != expected) failures++;
            if (same(nc_sync(id)) != expected) failures++;
        }
    }
    closed = same(nc_close(id));
    if (failed != expected || closed != expected) failures++;
    if (rank == 0) printf("failed %d, then %d, at close %d\n", failed, code, closed);
    free(values);
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return failures > 0;
}
