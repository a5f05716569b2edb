/* A program that shares a file between ranks. Its communicator, a child process or the program
 * itself ends before the file is closed. It uses only netCDF.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <mpi.h>
#include <netcdf.h>
#include <netcdf_dispatch.h>
#include <netcdf_par.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank;
#define SAY(call) printf("%d: %s: %d\n", rank, #call, (call))

/* Creates a file with a variable of four values per rank. */
static int make_file(const char* name, int mode, MPI_Comm comm, int ranks) {
    int id = -1, n, v;
    MPI_Comm own;
    MPI_Info info;
    MPI_Comm_dup(comm, &own);
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_nodes", "1");
    SAY(nc_create_par(name, NC_CLOBBER | mode, own, info, &id));
    MPI_Info_free(&info);
    MPI_Comm_free(&own);
    SAY(nc_def_dim(id, "n", 4 * (size_t)ranks, &n));
    SAY(nc_def_var(id, "v", NC_INT, 1, &n, &v));
    return id;
}

static void put(int id, size_t start) {
    SAY(nc_enddef(id));
    SAY(nc_put_vara_int(id, 0, &start, (size_t[]){4}, (int[]){rank, 1, 2, 3}));
}

/* Ends the process without MPI_Finalize. */
static void leave(void) {
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) exit(0);
    sleep(60);
}

/* The first rank makes a file alone; the others wait for it in a joint call. */
static void root_makes(void) {
    int id = -1, n, v, values[4] = {1, 2, 3, 4};
    if (rank == 0) {
        sleep(1);
        SAY(nc_create("root.nc", NC_CLOBBER | NC_NETCDF4, &id));
        SAY(nc_def_dim(id, "n", 4, &n));
        SAY(nc_def_var(id, "v", NC_INT, 1, &n, &v));
        SAY(nc_put_var_int(id, v, values));
        SAY(nc_close(id));
    }
    SAY(nc_open_par("root.nc", NC_NOWRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &id));
    SAY(nc_get_var_int(id, 0, values));
    printf("%d: %d\n", rank, values[3]);
    SAY(nc_close(id));
}

int main(int count, char** words) {
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char* const way = count > 1 ? words[1] : "";
    char name[64];
    snprintf(name, sizeof name, "%s.nc", way);
    if (strcmp(way, "alone") == 0) {
        snprintf(name, sizeof name, "alone%d.nc", rank);
        put(make_file(name, NC_64BIT_DATA, MPI_COMM_SELF, 1), 0);
        leave();
    }
    if (strcmp(way, "root") == 0) {
        root_makes();
        MPI_Finalize();
        return 0;
    }
    if (strcmp(way, "format") == 0 &&
        rank == 1) { /* takes the slot of Thalweg, if there is only one */
        static struct NC_Dispatch table = {.model = NC_FORMATX_UDF1,
                                           .dispatch_version = NC_DISPATCH_VERSION};
        SAY(nc_def_user_format(NC_UDF1, &table, NULL));
    }
    if (strcmp(way, "poor") == 0 && rank == 1)
        setrlimit(RLIMIT_AS, &(struct rlimit){1 << 20, RLIM_INFINITY});
    if (strcmp(way, "few") == 0 && rank == 1) { /* no more descriptors */
        int alone = -1;
        setrlimit(RLIMIT_NOFILE, &(struct rlimit){3, 3});
        SAY(nc_create("own.nc", NC_CLOBBER, &alone));
    }
    const int mode = strcmp(way, "shared") == 0 ? NC_64BIT_DATA : NC_NETCDF4;
    const int id = make_file(name, mode, MPI_COMM_WORLD, 2);
    if (strcmp(way, "handles") == 0) {
        int group;
        SAY(nc_def_grp(id, "g", &group));
    }
    put(id, 4 * (size_t)rank);
    if (strcmp(way, "shared") == 0) leave();
    if (strcmp(way, "badclose") == 0) SAY(nc_close(id | 1));
    fflush(stdout);
    if (strcmp(way, "fork") == 0 && rank == 0) {
        const pid_t child = fork();
        if (child == 0) exit(0);
        int status = -1;
        waitpid(child, &status, 0);
        printf("status %d\n", status);
    }
    SAY(nc_close(id));
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
