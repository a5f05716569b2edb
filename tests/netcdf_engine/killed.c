/* Writes records, and kills one of its ranks after some calls if wanted; or reads what is left.
 *
 * Usage: killed write MODE RANK CALLS, killed leave MODE RANK CALLS, or killed read. With leave,
 * the program defines a group, so that netCDF-C goes on with the file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <mpi.h>
#include <netcdf.h>
#include <netcdf_par.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { records = 9, mine = 5 };

static int rank, ranks, calls, last = -1;

static void after_call(int code) {
    if (code != 0) fprintf(stderr, "rank %d: call %d returned %d\n", rank, calls, code);
    if (++calls == last) raise(SIGKILL);
}

static int value_of(int variable, int record, int element) {
    return 10000 * variable + 100 * record + element;
}

static void write_records(int mode, int leaves) {
    const MPI_Comm all = MPI_COMM_WORLD;
    int id, dims[2], v, w, fixed, values[mine], got[mine];
    const size_t first = (size_t)(mine * rank), n = mine;
    after_call(nc_create_par("k.nc", mode, all, MPI_INFO_NULL, &id));
    after_call(nc_def_dim(id, "t", NC_UNLIMITED, &dims[0]));
    after_call(nc_def_dim(id, "x", (size_t)(mine * ranks), &dims[1]));
    after_call(nc_def_var(id, "v", NC_INT, 2, dims, &v));
    after_call(nc_def_var(id, "w", NC_INT, 2, dims, &w));
    after_call(nc_def_var(id, "fixed", NC_INT, 1, &dims[1], &fixed));
    after_call(nc_enddef(id));
    for (int i = 0; i < mine; i++) values[i] = value_of(2, 0, mine * rank + i);
    after_call(nc_put_vara_int(id, fixed, &first, &n, values)); /* independent */
    after_call(nc_var_par_access(id, v, NC_COLLECTIVE));
    after_call(nc_var_par_access(id, w, NC_COLLECTIVE));
    for (int r = 0; r < records; r++) {
        const size_t start[2] = {(size_t)r, first}, count[2] = {1, mine};
        for (int k = 0; k < 2; k++) {
            for (int i = 0; i < mine; i++) values[i] = value_of(k, r, mine * rank + i);
            after_call(nc_put_vara_int(id, k == 0 ? v : w, start, count, values));
        }
        if (r == 4) {
            after_call(nc_redef(id));
            after_call(nc_put_att_int(id, v, "late", NC_INT, 1, &r));
            after_call(nc_enddef(id));
        }
        if (r == 5) after_call(nc_get_vara_int(id, v, start, count, got));
        if (r == 5 && leaves) {
            int group = 0;
            if (rank == 0) printf("leaving\n"), fflush(stdout);
            after_call(nc_def_grp(id, "group", &group));
            if (rank == 0) printf("left\n"), fflush(stdout);
        }
        if (r % 3 != 2) continue;
        after_call(nc_sync(id));
        if (rank == 0) printf("synced %d\n", r + 1), fflush(stdout);
        MPI_Barrier(all);
    }
    after_call(nc_close(id));
    if (rank == 0) printf("closed\n"), fflush(stdout);
}

/* Reads with a communicator, or on one rank, with which netCDF-C can read any file. */
static void read_records(int alone) {
    int id = 0, wrong = 0, holes = 0, whole = records;
    size_t n = 0, length = 0;
    const int code = alone ? nc_open("k.nc", NC_NOWRITE, &id)
                           : nc_open_par("k.nc", NC_NOWRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &id);
    if (code == 0) {
        nc_inq_dimlen(id, 0, &n);
        nc_inq_dimlen(id, 1, &length);
        int* const values = malloc((length + 1) * sizeof *values);
        for (int r = 0; r < (int)n + 1; r++)
            for (int k = 0; k < (r < (int)n ? 2 : 1); k++) { /* at last the fixed variable */
                const size_t start[2] = {(size_t)r, 0}, count[2] = {1, length};
                const int is_fixed = r == (int)n;
                wrong += nc_get_vara_int(id, is_fixed ? 2 : k, start + is_fixed, count + is_fixed,
                                         values) != 0;
                for (int i = 0; i < (int)length; i++) {
                    const int wanted = is_fixed ? value_of(2, 0, i) : value_of(k, r, i);
                    holes += is_fixed && values[i] != wanted; /* written later than the header */
                    wrong += values[i] != wanted && values[i] != NC_FILL_INT &&
                             !(is_fixed && values[i] == 0);
                    if (values[i] == NC_FILL_INT && !is_fixed && r < whole) whole = r;
                }
            }
        free(values);
        nc_close(id);
    }
    if (rank == 0)
        printf("open %d records %zu wrong %d whole %d holes %d\n", code, n, wrong,
               whole < (int)n ? whole : (int)n, holes);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc > 4 && atoi(argv[3]) % ranks == rank) last = atoi(argv[4]);
    if (argc > 2 && strcmp(argv[1], "read") != 0)
        write_records((int)strtol(argv[2], NULL, 0), strcmp(argv[1], "leave") == 0);
    else
        read_records(argc > 2);
    MPI_Finalize();
    return 0;
}
