/* A program whose symbols look as if netCDF were linked statically.
 *
 * SPDX-License-Identifier: Apache-2.0 */
int nc_create(const char* path, int mode, int* id);

int nc_create(const char* path, int mode, int* id) {
    (void)path, (void)mode;
    *id = 1;
    return 0;
}

int main(void) {
    int id = 0;
    return nc_create("a.nc", 0, &id);
}
