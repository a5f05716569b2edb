/* Puts and gets parts of variables: with strides and maps, beyond the records, with wrong
 * arguments.
 *
 * Usage: access CASE
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "calls.h"

/* Strides, memory maps, all conversions with values that fit and that do not. */
static void maps(void) {
    static const nc_type types[] = {NC_BYTE, NC_UBYTE, NC_SHORT,  NC_USHORT, NC_INT,
                                    NC_UINT, NC_INT64, NC_UINT64, NC_FLOAT,  NC_DOUBLE};
    enum { many = 10 };
    int all[many];
    C(create("maps.nc", NC_CLOBBER | NC_NETCDF4));
    define_dims();
    for (int i = 0; i < many; i++) {
        char name[8];
        snprintf(name, sizeof name, "m%d", i);
        C(nc_def_var(id, name, types[i], 2, &dims[1], &all[i]));
    }
    C(nc_enddef(id));
    const size_t start[] = {0, (size_t)(wide * rank)}, count[] = {levels, wide / 2};
    const ptrdiff_t stride[] = {1, 2}, map[] = {1, levels};
    for (int i = 0; i < many; i++) {
        double x[levels * wide];
        for (int k = 0; k < levels * wide; k++) x[k] = k + 10 * rank;
        C(nc_var_par_access(id, all[i], NC_COLLECTIVE));
        C(nc_put_varm_double(id, all[i], start, count, stride, map, x));
        short s[levels * wide];
        const size_t odd[] = {0, (size_t)(wide * rank + 1)};
        for (int least = -3; least <= 0; least += 3) { /* the first ones may not fit */
            for (int k = 0; k < levels * wide; k++) s[k] = (short)(k + least);
            C(nc_put_vars_short(id, all[i], odd, count, stride, s));
        }
        C(nc_put_vars_short(id, all[i], odd, count, (const ptrdiff_t[]){0, 2}, s));
        C(nc_put_vars_short(id, all[i], odd, (const size_t[]){levels, (size_t)(wide * ranks)},
                            stride, s));
        C(nc_put_vars_text(id, all[i], odd, count, stride, "abcdefghi"));
        signed char back[levels * wide] = {0};
        C(nc_get_varm_schar(id, all[i], start, (const size_t[]){levels, wide}, NULL,
                            (const ptrdiff_t[]){wide, 1}, back));
        SHOW(back, levels * wide);
        long long wideback[levels * wide] = {0};
        C(nc_get_vars_longlong(id, all[i], start, count, stride, wideback));
        SHOW(wideback, levels * wide / 2);
    }
    C(nc_close(id));
}

/* Calls with wrong arguments. */
static void errors(void) {
    C(create("errors.nc", NC_CLOBBER | NC_NETCDF4));
    define_dims();
    int other = -7;
    C(nc_def_dim(id, "x", 4, &other));
    C(nc_def_dim(id, "", 4, &other));
    C(nc_def_dim(id, "a/b", 4, &other));
    C(nc_def_dim(id, " a", 4, &other));
    C(nc_def_dim(id, "a ", 4, &other));
    C(nc_def_dim(id, "ok", 5, &other));
    C(nc_def_var(id, "v", NC_FLOAT, 3, dims, &vars[0]));
    C(nc_def_var(id, "v", NC_FLOAT, 3, dims, &other));
    C(nc_def_var(id, "w", 0, 1, dims, &other));
    C(nc_def_var(id, "w", 77, 1, dims, &other));
    C(nc_def_var(id, "w", NC_FLOAT, 1, (const int[]){9}, &other));
    C(nc_def_var(id, "w", NC_FLOAT, -1, dims, &other));
    C(nc_put_att_text(id, vars[0], "", 1, "x"));
    C(nc_put_att_int(id, 9, "n", NC_INT, 1, &rank));
    C(nc_put_att_int(id, vars[0], "n", NC_CHAR, 1, &rank));
    C(nc_put_att_float(id, vars[0], "_FillValue", NC_FLOAT, 2, (const float[]){1, 2}));
    nc_del_att(id, vars[0], "_FillValue"); /* which netCDF-C 4.9.0 has made nevertheless */
    C(nc_put_att_int(id, vars[0], "big", NC_BYTE, 1, (const int[]){1000}));
    C(nc_del_att(id, vars[0], "big"));
    C(nc_rename_dim(id, dims[1], "x"));
    C(nc_rename_dim(id, 9, "y"));
    C(nc_rename_var(id, vars[0], "v"));
    C(nc_rename_var(id, 9, "u"));
    C(nc_rename_att(id, vars[0], "none", "some"));
    C(nc_del_att(id, vars[0], "none"));
    C(nc_inq_dimid(id, "none", &other));
    C(nc_inq_dim(id, 9, NULL, NULL));
    C(nc_inq_varid(id, "none", &other));
    C(nc_inq_var(id, 9, NULL, NULL, NULL, NULL, NULL));
    C(nc_inq_attid(id, vars[0], "none", &other));
    C(nc_inq_attname(id, vars[0], 9, NULL));
    C(nc_get_att_int(id, vars[0], "none", &other));
    C(nc_inq_ncid(id, "none", &other));
    C(nc_inq_grp_parent(id, &other));
    C(nc_enddef(id));
    C(nc_enddef(id));
    C(nc_redef(id));
    C(nc_redef(id));
    C(nc_enddef(id));
    C(nc_var_par_access(id, 9, NC_COLLECTIVE));
    C(nc_var_par_access(id, vars[0], 7));
    C(nc_var_par_access(id, vars[0], NC_COLLECTIVE));
    const size_t far_[] = {0, levels, 0}, one[] = {1, 1, 1}, zero[] = {0, 0, 0}, none[] = {1, 0, 1},
                 end[] = {0, levels, 0};
    float x[4] = {0};
    C(nc_put_vara_float(id, vars[0], far_, one, x));
    C(nc_put_vara_float(id, vars[0], zero, (const size_t[]){1, levels + 1, 1}, x));
    C(nc_put_vara_float(id, vars[0], end, none, x));
    C(nc_put_vara_float(id, vars[0], NULL, one, x));
    C(nc_put_vara_float(id, 9, zero, one, x));
    C(nc_put_vara_float(id, NC_GLOBAL, zero, one, x));
    C(nc_put_vara_text(id, vars[0], zero, one, "x"));
    C(nc_put_vara_float(id, vars[0], zero, one, x));
    C(nc_get_vara_float(id, vars[0], (const size_t[]){1, 0, 0}, one, x));
    C(nc_get_vara_float(id, vars[0], (const size_t[]){0, 0, 0}, (const size_t[]){2, 1, 1}, x));
    C(nc_get_vara_text(id, vars[0], zero, one, (char*)x));
    C(nc_put_vara_float(id + 1000000, vars[0], zero, one, x));
    C(nc_close(id));
    C(nc_close(id));
    C(nc_sync(id));
    C(reopen("errors.nc", NC_NOWRITE));
    C(nc_redef(id));
    C(nc_def_dim(id, "y", 1, &other));
    C(nc_put_att_int(id, NC_GLOBAL, "n", NC_INT, 1, &rank));
    C(nc_set_fill(id, NC_NOFILL, &other));
    C(nc_rename_var(id, vars[0], "u"));
    C(nc_close(id));
}

/* Records: gaps, different numbers on the ranks, several variables. */
static void records(void) {
    C(create("records.nc", NC_CLOBBER | NC_NETCDF4));
    define_dims();
    C(nc_def_var(id, "a", NC_FLOAT, 3, dims, &vars[0]));
    C(nc_def_var(id, "b", NC_INT, 1, dims, &vars[1]));
    C(nc_enddef(id));
    size_t n = 9;
    C(nc_inq_dimlen(id, dims[0], &n));
    SHOW(&n, 1);
    put_tile(vars[0], 3, NC_COLLECTIVE);
    C(nc_inq_dimlen(id, dims[0], &n));
    SHOW(&n, 1);
    C(nc_var_par_access(id, vars[1], NC_COLLECTIVE));
    const size_t start = (size_t)(2 * rank), count = 2;
    const int x[] = {10 * rank, 10 * rank + 1};
    C(nc_put_vara_int(id, vars[1], &start, &count, x));
    get_tile(vars[0], 1);
    get_tile(vars[0], 3);
    int all[8] = {0};
    C(nc_var_par_access(id, vars[1], NC_INDEPENDENT));
    C(nc_get_vara_int(id, vars[1], (const size_t[]){0}, (const size_t[]){1}, all));
    SHOW(all, 1);
    const int late = 5;
    if (ranks > 1) C(nc_put_var1_int(id, vars[1], (const size_t[]){50}, &late));
    C(nc_close(id));
    C(reopen("records.nc", NC_NOWRITE));
    C(nc_inq_dimlen(id, dims[0], &n));
    SHOW(&n, 1);
    C(nc_get_vara_int(id, vars[1], (const size_t[]){0}, (const size_t[]){4}, all));
    SHOW(all, 4);
    get_tile(vars[0], 0);
    C(nc_close(id));
}

int main(int argc, char** argv) {
    static const struct Case cases[] = {{"maps", maps}, {"errors", errors}, {"records", records}};
    return run_case(argc, argv, cases, sizeof cases / sizeof *cases);
}
