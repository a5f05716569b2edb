/* Collective puts by netCDF's names.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <netcdf.h>
#include <netcdf_par.h>
#include <string.h>

#include "passes.h"

/* Compares this rank's values of a record with what netCDF-C reads. */
static void check(const size_t* start, const size_t* count) {
    int id;
    float* const read = malloc((size_t)elements() * sizeof *read);
    OK(nc_open("netcdf.nc", NC_NOWRITE, &id));
    for (int v = 0; v < VARIABLES; v++) {
        OK(nc_get_vara_float(id, v, start, count, read));
        if (memcmp(read, values, (size_t)elements() * sizeof *read) != 0) failures++;
    }
    OK(nc_close(id));
    free(read);
}

int main(int argc, char** argv) {
    begin(argc, argv);
    int id, dims[4], v[VARIABLES];
    char name[8];
    OK(nc_create_par("netcdf.nc", NC_CLOBBER | NC_64BIT_DATA, MPI_COMM_WORLD, MPI_INFO_NULL, &id));
    OK(nc_def_dim(id, "time", NC_UNLIMITED, &dims[0]));
    OK(nc_def_dim(id, "z", NZ, &dims[1]));
    OK(nc_def_dim(id, "y", (size_t)rows, &dims[2]));
    OK(nc_def_dim(id, "x", (size_t)NX * (size_t)ranks, &dims[3]));
    for (int i = 0; i < VARIABLES; i++) {
        snprintf(name, sizeof name, "v%d", i);
        OK(nc_def_var(id, name, NC_FLOAT, 4, dims, &v[i]));
    }
    OK(nc_enddef(id));
    for (int i = 0; i < VARIABLES; i++) OK(nc_var_par_access(id, v[i], NC_COLLECTIVE));
    size_t start[] = {0, 0, 0, (size_t)NX * (size_t)rank}, count[] = {1, NZ, (size_t)rows, NX};
    for (; start[0] < STEPS; start[0]++) {
        for (int i = 0; i < VARIABLES; i++) OK(nc_put_vara_float(id, v[i], start, count, values));
        OK(nc_sync(id));
    }
    OK(nc_close(id));
    start[0]--;
    check(start, count);
    return finish("netCDF's names", ranks);
}
