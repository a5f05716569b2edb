/* A program that shares files between ranks by netCDF. Each rank prints what its calls return to
 * its own file.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>
#include <netcdf.h>
#include <netcdf_par.h>
#include <stdio.h>

static FILE* out;
#define SAY(call) fprintf(out, "%s: %d\n", #call, (call))

static void write_file(const char* path, int mode, int rank) {
    int id = -1, t, n, v, w, ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int code = nc_create_par(path, NC_CLOBBER | mode, MPI_COMM_WORLD, MPI_INFO_NULL, &id);
    fprintf(out, "== %s: %d\n", path, code);
    if (code != 0) return;
    SAY(nc_def_dim(id, "t", NC_UNLIMITED, &t));
    SAY(nc_def_dim(id, "n", 4 * (size_t)ranks, &n));
    SAY(nc_def_var(id, "v", NC_FLOAT, 1, &n, &v));
    SAY(nc_def_var(id, "w", NC_INT, 2, (int[]){t, n}, &w));
    SAY(nc_put_att_text(id, NC_GLOBAL, "title", 5, "ranks"));
    SAY(nc_enddef(id));
    SAY(nc_var_par_access(id, v, 77));
    SAY(nc_var_par_access(id, v, NC_COLLECTIVE));
    SAY(nc_var_par_access(id, w, NC_COLLECTIVE));
    const float x[] = {rank, 1, 2, 3};
    const int k[] = {rank, 1, 2, 3};
    SAY(nc_put_vara_float(id, v, (size_t[]){4 * (size_t)rank}, (size_t[]){4}, x));
    for (size_t step = 0; step < 3; ++step)
        SAY(nc_put_vara_int(id, w, (size_t[]){step, 4 * (size_t)rank}, (size_t[]){1, 4}, k));
    SAY(nc_put_vara_int(id, w, (size_t[]){3, 0}, (size_t[]){1, rank == 0 ? 4 : 0}, k));
    SAY(nc_sync(id));
    SAY(nc_close(id));
    SAY(nc_close(id));
}

static void read_file(const char* path) {
    int id = -1, code = nc_open_par(path, NC_NOWRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &id);
    fprintf(out, "== open %s: %d\n", path, code);
    if (code != 0) return;
    int k[4] = {0};
    SAY(nc_get_vara_int(id, 1, (size_t[]){1, 0}, (size_t[]){1, 4}, k));
    fprintf(out, "%d %d\n", k[0], k[3]);
    SAY(nc_put_var1_int(id, 1, (size_t[]){0, 0}, k));
    SAY(nc_close(id));
}

int main(int count, char** words) {
    int rank;
    char name[256];
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(name, sizeof name, "rank%d.txt", rank);
    out = fopen(name, "w");
    if (out == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    const int modes[] = {0, NC_64BIT_DATA, NC_NETCDF4, NC_NETCDF4 | NC_CLASSIC_MODEL,
                         NC_64BIT_OFFSET | NC_64BIT_DATA};
    for (int i = 0; i < (int)(sizeof modes / sizeof *modes); ++i) {
        char path[32];
        snprintf(path, sizeof path, "p%d.nc", i);
        write_file(path, modes[i], rank);
        read_file(path);
    }
    fclose(out);
    MPI_Finalize();
    return 0;
}
