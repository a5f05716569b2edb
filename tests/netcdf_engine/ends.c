/* Programs that do not end by first closing their files and then calling MPI_Finalize.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <mpi.h>
#include <netcdf.h>
#include <netcdf_par.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank, ranks, failures;

static void check(int holds, const char* what) {
    if (holds) return;
    failures++;
    fprintf(stderr, "rank %d of %d: %s\n", rank, ranks, what);
}

static int made(const char* path) {
    int id = -1, dim = 0, v = 0;
    size_t start = (size_t)rank, count = 1;
    check(nc_create_par(path, NC_NETCDF4, MPI_COMM_WORLD, MPI_INFO_NULL, &id) == 0, "create");
    check(nc_def_dim(id, "x", (size_t)ranks, &dim) == 0, "dimension");
    check(nc_def_var(id, "v", NC_INT, 1, &dim, &v) == 0, "variable");
    check(nc_enddef(id) == 0, "enddef");
    check(nc_put_vara_int(id, v, &start, &count, &rank) == 0, "put");
    return id;
}

/* Makes two files that nobody closes, and whose ids are in another order on rank 0. MPI_Finalize
 * must close them. */
static int unclosed(void) {
    int serial = -1, id[2];
    if (rank == 0) check(nc_create("serial.nc", 0, &serial) == 0, "serial");
    id[0] = made("first.nc");
    if (rank == 0) check(nc_close(serial) == 0, "close");
    id[1] = made("second.nc");
    check(rank > 0 ? id[0] < id[1] : id[1] < id[0], "the ids are in another order");
    MPI_Finalize();
    if (rank == 0) {
        struct stat info;
        check(stat("first.nc", &info) == 0 && info.st_size > 0, "first.nc is missing");
        check(stat("second.nc", &info) == 0 && info.st_size > 0, "second.nc is missing");
    }
    return failures > 0;
}

/* Tests that a child process that calls exit() does not close its parent's file. */
static int forked(void) {
    const int id = made("forked.nc");
    if (rank == 0) {
        const pid_t child = fork();
        if (child == 0) {
            if (freopen("child", "w", stderr) == NULL) _exit(1);
            exit(0);
        }
        int status = 1;
        for (int i = 0; i < 100 && waitpid(child, &status, WNOHANG) == 0; i++) usleep(100000);
        check(status == 0, "the child has not ended");
        char text[4096] = "";
        FILE* const errors = fopen("child", "r");
        const size_t n = errors == NULL ? 0 : fread(text, 1, sizeof text - 1, errors);
        check(n == 0 || strstr(text, "not closed") == NULL, "the child has closed the file");
        if (errors != NULL) fclose(errors);
    }
    check(nc_close(id) == 0, "close");
    MPI_Finalize();
    return failures > 0;
}

static int exits(void) {
    made("exits.nc");
    if (rank == 0) exit(1);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    return 0;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc > 1 && strcmp(argv[1], "unclosed") == 0) return unclosed();
    if (argc > 1 && strcmp(argv[1], "forked") == 0) return forked();
    return exits();
}
