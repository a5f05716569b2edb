/* A program that prints the codes and values that its calls return, for files of each format. It
 * uses only netCDF.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SAY(call) printf("%s: %d\n", #call, (call))

int write_files(const char* prefix);

/* Declared here, because netcdf_par.h needs MPI. */
int nc_var_par_access(int id, int variable, int access);

static void define(int id) {
    int n, t, v, w, g;
    const char* words[] = {"one", "two"};
    const size_t chunk[] = {1, 4};
    SAY(nc_def_dim(id, "n", 4, &n));
    SAY(nc_def_dim(id, "t", NC_UNLIMITED, &t));
    SAY(nc_def_dim(id, "n", 5, &t));
    SAY(nc_def_dim(id, "a/b", 5, &g));
    SAY(nc_inq_dimid(id, "t", &t));
    SAY(nc_def_var(id, "v", NC_FLOAT, 1, &n, &v));
    const int dims[] = {t, n};
    SAY(nc_def_var(id, "w", NC_SHORT, 2, dims, &w));
    SAY(nc_def_var(id, "u", NC_UINT64, 0, NULL, &g));
    SAY(nc_def_var_chunking(id, w, NC_CHUNKED, chunk));
    SAY(nc_def_var_deflate(id, w, 1, 1, 1));
    SAY(nc_def_var_fill(id, v, 0, &(float){-1}));
    SAY(nc_put_att_text(id, v, "units", 1, "m"));
    SAY(nc_put_att_double(id, NC_GLOBAL, "numbers", NC_SHORT, 2, (double[]){1, 1e9}));
    SAY(nc_put_att_string(id, NC_GLOBAL, "words", 2, words));
    SAY(nc_copy_att(id, NC_GLOBAL, "words", id, v));
    SAY(nc_def_grp(id, "inside", &g));
    SAY(nc_set_fill(id, NC_NOFILL, &g));
    SAY(nc_redef(id));
    SAY(nc_enddef(id));
    SAY(nc_enddef(id));
}

static void put(int id) {
    float x[4] = {1, 2, 3, 4};
    double y[4] = {-2.9, 1e9, 3, 4};
    short z[8] = {0};
    const size_t start[] = {1, 0}, count[] = {1, 4}, beyond[] = {0, 3};
    const ptrdiff_t stride[] = {1, 2}, map[] = {4, 2}, no_stride[] = {0, 1};
    SAY(nc_put_var_float(id, 0, x));
    SAY(nc_put_vara_double(id, 1, start, count, y));
    SAY(nc_put_vara_double(id, 1, beyond, count, y));
    SAY(nc_put_vars_float(id, 1, start, (size_t[]){1, 2}, stride, x));
    SAY(nc_put_vars_float(id, 1, start, (size_t[]){1, 2}, no_stride, x));
    SAY(nc_put_varm_float(id, 1, start, (size_t[]){1, 2}, NULL, map, x));
    SAY(nc_put_vara_text(id, 0, start, count, "abcd"));
    SAY(nc_put_vara_float(id, 77, start, count, x));
    SAY(nc_put_vara(id, 1, start, count, z));
    SAY(nc_get_var_short(id, 1, z));
    for (int i = 4; i < 8; ++i) printf(" %d", z[i]);
    SAY(nc_get_var1_float(id, 0, (size_t[]){3}, x));
    printf("%g\n", x[0]);
}

static void ask(int id) {
    int a = 0, b = 0, c = 0, d = 0;
    size_t length = 0, chunks[2] = {0};
    char name[NC_MAX_NAME + 1] = "";
    SAY(nc_inq(id, &a, &b, &c, &d));
    printf("%d %d %d %d\n", a, b, c, d);
    SAY(nc_inq_format(id, &a));
    SAY(nc_inq_format_extended(id, &b, &c));
    printf("format %d, %d, %x\n", a, b, c);
    SAY(nc_inq_var(id, 1, name, &a, &b, NULL, &c));
    printf("%s %d %d %d\n", name, a, b, c);
    SAY(nc_inq_var_chunking(id, 1, &a, chunks));
    printf("%d %zu %zu\n", a, chunks[0], chunks[1]);
    SAY(nc_inq_var_deflate(id, 1, &a, &b, &c));
    SAY(nc_inq_var_fill(id, 0, &a, NULL));
    SAY(nc_inq_att(id, NC_GLOBAL, "none", &a, &length));
    SAY(nc_inq_dimlen(id, 1, &length));
    printf("%zu records\n", length);
    SAY(nc_inq_grp_ncid(id, "inside", &a));
    SAY(nc_inq_grp_parent(id, &b));
    if (nc_inq_grp_ncid(id, "inside", &a) == 0 && nc_inq_grp_parent(a, &b) == 0)
        printf("parent %s\n", b == id ? "found" : "lost");
    SAY(nc_inq_path(id, &length, name));
    printf("%s\n", name);
    SAY(nc_var_par_access(id, 0, 1));
}

static void read_strings(int id) {
    char* words[2] = {NULL, NULL};
    int code = nc_get_att_string(id, NC_GLOBAL, "words", words);
    printf("strings: %d %s\n", code, code == 0 ? words[1] : "");
    if (code == 0) SAY(nc_free_string(2, words));
    char text[8] = "";
    SAY(nc_get_att_text(id, 0, "units", text));
    SAY(nc_rename_att(id, 0, "units", "unit"));
    SAY(nc_del_att(id, 0, "unit"));
}

int write_files(const char* prefix) {
    static const int modes[] = {0,
                                NC_64BIT_OFFSET,
                                NC_64BIT_DATA,
                                NC_NETCDF4,
                                NC_NETCDF4 | NC_CLASSIC_MODEL,
                                NC_64BIT_OFFSET | NC_64BIT_DATA};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; ++i) {
        char path[256];
        int id = -1;
        snprintf(path, sizeof path, "%s%zu.nc", prefix, i);
        printf("== mode %x\n", modes[i]);
        int code = nc_create(path, NC_CLOBBER | modes[i], &id);
        printf("create: %d\n", code);
        if (code != 0) continue;
        define(id);
        put(id);
        ask(id);
        SAY(nc_sync(id));
        SAY(nc_close(id));
        SAY(nc_close(id));
        SAY(nc_create(path, NC_NOCLOBBER, &id));
        SAY(nc_open(path, NC_WRITE, &id));
        read_strings(id);
        SAY(nc_redef(id));
        SAY(nc_abort(id));
        SAY(nc_open("none.nc", 0, &id));
        SAY(nc_delete(path));
        code = nc_create(path, NC_CLOBBER | modes[i], &id);
        define(id);
        put(id);
        SAY(nc_close(id));
    }
    fflush(stdout);
    return 0;
}
