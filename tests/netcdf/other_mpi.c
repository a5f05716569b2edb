/* A stand-in for a program with another MPI, of which it defines only the names.
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
    int id = -1;
    printf("init: %d\n", PMPI_Init(&count, &words));
    for (int i = 0; i < 2; ++i) {
        printf("create alone: %d\n", nc_create("b.nc", NC_CLOBBER, &id));
        printf("close: %d\n", nc_close(id));
        printf("create: %d\n", nc_create_par("a.nc", NC_NETCDF4, NULL, NULL, &id));
    }
    return 0;
}
#endif
