/* Writes records and kills one of its ranks after some calls; or reads the file that remains.
 *
 * Usage: killed write RANK CALLS, or killed read.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>
#include <pnetcdf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { records = 12, mine = 5 };

static int rank, ranks, calls, last = -1;

static void after_call(int code) {
    if (code != 0) fprintf(stderr, "rank %d: call %d returned %d\n", rank, calls, code);
    if (++calls == last) raise(SIGKILL);
}

static int value_of(int variable, int record, int element) {
    return 10000 * variable + 100 * record + element;
}

static void write_records(void) {
    int id, dims[2], v, w, values[2][mine];
    after_call(ncmpi_create(MPI_COMM_WORLD, "k.nc", NC_64BIT_DATA, MPI_INFO_NULL, &id));
    after_call(ncmpi_def_dim(id, "t", NC_UNLIMITED, &dims[0]));
    after_call(ncmpi_def_dim(id, "x", mine * ranks, &dims[1]));
    after_call(ncmpi_def_var(id, "v", NC_INT, 2, dims, &v));
    after_call(ncmpi_def_var(id, "w", NC_INT, 2, dims, &w));
    after_call(ncmpi_enddef(id));
    for (int r = 0; r < records; r++) {
        const MPI_Offset start[2] = {r, mine * rank}, count[2] = {1, mine};
        for (int i = 0; i < mine; i++) {
            values[0][i] = value_of(1, r, mine * rank + i);
            values[1][i] = value_of(2, r, mine * rank + i);
        }
        after_call(ncmpi_put_vara_int_all(id, v, start, count, values[0]));
        after_call(ncmpi_iput_vara_int(id, w, start, count, values[1], NULL));
        after_call(ncmpi_wait_all(id, NC_REQ_ALL, NULL, NULL));
        if (r % 3 == 2) {
            after_call(ncmpi_sync(id));
            if (rank == 0) printf("synced %d\n", r + 1), fflush(stdout);
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
    after_call(ncmpi_close(id));
}

static void read_records(void) {
    int id, wrong = 0;
    MPI_Offset n = 0, length = 0;
    const int code = ncmpi_open(MPI_COMM_WORLD, "k.nc", NC_NOWRITE, MPI_INFO_NULL, &id);
    if (code == 0) {
        ncmpi_inq_dimlen(id, 0, &n);
        ncmpi_inq_dimlen(id, 1, &length);
        int* const values = malloc(((size_t)length + 1) * sizeof *values);
        for (int r = 0; r < n; r++)
            for (int v = 0; v < 2; v++) {
                const MPI_Offset start[2] = {r, 0}, count[2] = {1, length};
                wrong += ncmpi_get_vara_int_all(id, v, start, count, values) != 0;
                for (int i = 0; i < length; i++)
                    wrong += values[i] != value_of(v + 1, r, i) && values[i] != NC_FILL_INT;
            }
        free(values);
        ncmpi_close(id);
    }
    if (rank == 0) printf("open %d records %lld wrong %d\n", code, (long long)n, wrong);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc > 3 && atoi(argv[2]) % ranks == rank) last = atoi(argv[3]);
    if (argc > 1 && strcmp(argv[1], "write") == 0)
        write_records();
    else
        read_records();
    MPI_Finalize();
    return 0;
}
