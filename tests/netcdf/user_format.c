/* A program with a user-defined format of its own: registered before it creates a file, or, with an
 * argument, while one is open.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <netcdf.h>
#include <netcdf_dispatch.h>
#include <stdio.h>

static int created;

static int create_own(const char* path, int mode, size_t size, int pe, size_t* hint, void* more,
                      const struct NC_Dispatch* table, int id) {
    (void)path, (void)mode, (void)size, (void)pe, (void)hint, (void)more, (void)table, (void)id;
    ++created;
    return 0;
}

static int close_own(int id, void* more) {
    (void)id, (void)more;
    return 0;
}

int main(int count, char** words) {
    (void)words;
    static struct NC_Dispatch table = {.model = NC_FORMATX_UDF1,
                                       .dispatch_version = NC_DISPATCH_VERSION,
                                       .create = create_own,
                                       .close = close_own};
    int id = -1, own = -1, n = -1;
    if (count == 1) printf("register: %d\n", nc_def_user_format(NC_UDF1, &table, NULL));
    printf("create: %d\n", nc_create("first.nc", NC_CLOBBER, &id));
    if (count > 1) printf("register: %d\n", nc_def_user_format(NC_UDF1, &table, NULL));
    printf("define: %d\n", nc_def_dim(id, "n", 4, &n));
    printf("own format: %d\n", nc_create("own", NC_UDF1, &own));
    printf("close: %d %d\n", nc_close(own), created);
    printf("close: %d\n", nc_close(id));
    printf("create: %d\n", nc_create("second.nc", NC_CLOBBER, &id));
    printf("close: %d\n", nc_close(id));
    return 0;
}
