/* A program with another MPI, or with a stand-in for one, which defines only the names.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <netcdf.h>
#include <stdio.h>

int PMPI_Init(int* count, char*** words);
int nc_create_par(const char* path, int mode, void* comm, void* info, int* id);

#ifdef STANDIN
int PMPI_Init(int* count, char*** words) {
    (void)count, (void)words;
    return 0;
}

int MPI_Initialized(int* flag);
int MPI_Initialized(int* flag) { return *flag = 1, 0; }

int MPI_Finalized(int* flag);
int MPI_Finalized(int* flag) { return *flag = 0, 0; }
#else
int main(int count, char** words) {
    int id = -1, dim = -1, got[4] = {0};
    printf("init: %d\n", PMPI_Init(&count, &words));
    for (int i = 0; i < 2; ++i) {
        printf("create alone: %d\n", nc_create("b.nc", NC_CLOBBER, &id));
        printf("dimension: %d\n", nc_def_dim(id, "x", 4, &dim));
        printf("variable: %d\n", nc_def_var(id, "v", NC_INT, 1, &dim, &dim));
        printf("enddef: %d\n", nc_enddef(id));
        printf("put: %d\n", nc_put_var_int(id, 0, (const int[]){1, 2, 3, i}));
        printf("close: %d\n", nc_close(id));
        printf("open: %d\n", nc_open("b.nc", NC_NOWRITE, &id));
        printf("get: %d\n", nc_get_var_int(id, 0, got));
        printf("close: %d, value %d\n", nc_close(id), got[3]);
        printf("create: %d\n", nc_create_par("a.nc", NC_NETCDF4, NULL, NULL, &id));
    }
    return 0;
}
#endif
