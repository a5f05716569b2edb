/* A program with a copy of the object `environ` of the C library, as one has that is linked to a
 * fixed address. It uses only netCDF.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <netcdf.h>
#include <stdio.h>

extern char** environ;

int main(void) {
    int id = -1, v = -1, value = 7;
    printf("environment: %d\n", environ != NULL && environ[0] != NULL);
    printf("create: %d\n", nc_create("copied.nc", NC_CLOBBER, &id));
    printf("define: %d\n", nc_def_var(id, "v", NC_INT, 0, NULL, &v));
    printf("end: %d\n", nc_enddef(id));
    printf("put: %d\n", nc_put_var_int(id, v, &value));
    printf("close: %d\n", nc_close(id));
    return 0;
}
