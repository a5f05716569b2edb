/* Makes the calls of netCDF that several models make.
 *
 * Usage: models CASE
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "calls.h"

/* WRF: collective puts, times as text, attributes added later, another day appended. */
static void wrf(void) {
    static const char* const days[] = {"2026-11-25_00:00:00", "2026-11-26_00:00:00",
                                       "2026-11-27_00:00:00"};
    int old = 0;
    C(create("wrf.nc", NC_CLOBBER | NC_NETCDF4 | NC_MPIIO));
    C(nc_set_fill(id, NC_NOFILL, &old));
    SHOW(&old, 1);
    define_dims();
    const int text[] = {dims[0], dims[3]};
    C(nc_def_var(id, "Times", NC_CHAR, 2, text, &vars[0]));
    for (int i = 1; i < 4; i++) {
        char name[8];
        snprintf(name, sizeof name, "V%d", i);
        C(nc_def_var(id, name, NC_FLOAT, 3, dims, &vars[i]));
        C(nc_put_att_text(id, vars[i], "units", 5, "m s-1"));
        C(nc_def_var_deflate(id, vars[i], 1, 1, 2));
    }
    C(nc_put_att_int(id, NC_GLOBAL, "WEST-EAST", NC_INT, 1, &ranks));
    C(nc_enddef(id));
    for (size_t record = 0; record < 2; record++) {
        const size_t start[] = {record, 0}, count[] = {1, 19};
        C(nc_var_par_access(id, vars[0], NC_COLLECTIVE));
        C(nc_put_vara_text(id, vars[0], start, count, days[record]));
        for (int i = 1; i < 4; i++) put_tile(vars[i], record, NC_COLLECTIVE);
        C(nc_redef(id));
        C(nc_put_att_text(id, NC_GLOBAL, "LAST", 19, days[record]));
        C(nc_enddef(id));
    }
    C(nc_close(id));
    C(reopen("wrf.nc", NC_WRITE));
    size_t n = 0;
    int t = -1;
    C(nc_inq_unlimdim(id, &t));
    C(nc_inq_dimlen(id, t, &n));
    SHOW(&n, 1);
    const size_t start[] = {n, 0}, count[] = {1, 19};
    C(nc_inq_varid(id, "Times", &vars[0]));
    C(nc_var_par_access(id, vars[0], NC_COLLECTIVE));
    C(nc_put_vara_text(id, vars[0], start, count, days[2]));
    C(nc_inq_varid(id, "V2", &vars[1]));
    put_tile(vars[1], n, NC_COLLECTIVE);
    C(nc_sync(id));
    get_tile(vars[1], n);
    char back[20] = "";
    C(nc_get_vara_text(id, vars[0], start, count, back));
    TEXT(back);
    C(nc_close(id));
}

/* FMS: redef before each definition, enddef before each access, whatever the codes. */
static void fms(void) {
    C(create("fms.nc", NC_NOCLOBBER | NC_NETCDF4 | NC_MPIIO | NC_CLASSIC_MODEL));
    C(nc_redef(id));
    define_dims();
    for (int i = 0; i < 3; i++) {
        char name[8];
        snprintf(name, sizeof name, "f%d", i);
        C(nc_redef(id));
        C(nc_def_var(id, name, i == 1 ? NC_DOUBLE : NC_FLOAT, 3, dims, &vars[i]));
        C(nc_redef(id));
        const float missing = -1e20F;
        C(nc_put_att_float(id, vars[i], "missing_value", i == 1 ? NC_DOUBLE : NC_FLOAT, 1,
                           &missing));
        C(nc__enddef(id, 16384, 4, 0, 4));
        C(nc_enddef(id));
    }
    C(nc_redef(id));
    C(nc_def_var(id, "time", NC_DOUBLE, 1, dims, &vars[3]));
    C(nc_put_att_text(id, vars[3], "axis", 1, "T"));
    C(nc__enddef(id, 16384, 4, 0, 4));
    for (size_t record = 0; record < 2; record++) {
        for (int i = 0; i < 3; i++) {
            C(nc_enddef(id));
            put_tile(vars[i], record, NC_COLLECTIVE);
        }
        const double t = 0.5 + (double)record;
        C(nc_var_par_access(id, vars[3], NC_COLLECTIVE));
        C(nc_put_var1_double(id, vars[3], &record, &t));
    }
    C(nc_put_att_text(id, vars[3], "late", 1, "T"));
    C(nc_rename_var(id, vars[0], "F"));
    C(nc_rename_var(id, vars[0], "f0longer"));
    get_tile(vars[1], 1);
    C(nc_sync(id));
    C(nc_close(id));
    C(create("fms.nc", NC_NOCLOBBER | NC_NETCDF4 | NC_MPIIO));
}

/* UFS: chunks, compression, quantization; asks for all of it; puts each variable once. */
static void ufs(void) {
    C(create("ufs.nc", NC_CLOBBER | NC_NETCDF4 | 0x40000));
    define_dims();
    const size_t chunks[] = {1, levels, wide};
    for (int i = 0; i < 4; i++) {
        char name[8];
        snprintf(name, sizeof name, "u%d", i);
        C(nc_def_var(id, name, NC_FLOAT, 3, dims, &vars[i]));
        C(nc_def_var_chunking(id, vars[i], NC_CHUNKED, chunks));
        if (i > 0) C(nc_def_var_deflate(id, vars[i], i > 1, 1, i));
        if (i == 3) C(nc_def_var_quantize(id, vars[i], NC_QUANTIZE_BITGROOM, 4));
        C(nc_def_var_fill(id, vars[i], i == 0, NULL));
        C(nc_var_par_access(id, vars[i], NC_COLLECTIVE));
        if (i > 0) C(nc_var_par_access(id, vars[i], NC_INDEPENDENT));
    }
    C(nc_def_var_chunking(id, vars[0], NC_CHUNKED, (const size_t[]){2, 9, 1}));
    C(nc_def_var_chunking(id, vars[0], NC_CONTIGUOUS, NULL));
    C(nc_def_var_deflate(id, vars[0], 0, 1, 11));
    C(nc_enddef(id));
    for (int i = 0; i < 4; i++) put_tile(vars[i], 0, NC_COLLECTIVE);
    C(nc_def_var_deflate(id, vars[0], 1, 1, 1));
    for (int i = 0; i < 4; i++) {
        int way = -1, shuffle = -1, deflate = -1, level = -1, none = -1, kind = -1, digits = -1;
        size_t got[3] = {0};
        float value = 0;
        C(nc_inq_var_chunking(id, vars[i], &way, got));
        C(nc_inq_var_deflate(id, vars[i], &shuffle, &deflate, &level));
        C(nc_inq_var_fill(id, vars[i], &none, &value));
        C(nc_inq_var_quantize(id, vars[i], &kind, &digits));
        const double all[] = {way, shuffle, deflate, level, none, value, kind, digits};
        SHOW(all, 8);
        SHOW(got, 3);
        size_t filters = 9;
        unsigned ids[4] = {0};
        C(nc_inq_var_filter_ids(id, vars[i], &filters, ids));
        SHOW(&filters, 1);
        SHOW(ids, 4);
        int fletcher = 9, endian = 9;
        C(nc_inq_var_fletcher32(id, vars[i], &fletcher));
        C(nc_inq_var_endian(id, vars[i], &endian));
        SHOW(&fletcher, 1);
        SHOW(&endian, 1);
    }
    C(nc_close(id));
}

int main(int argc, char** argv) {
    static const struct Case cases[] = {{"wrf", wrf}, {"fms", fms}, {"ufs", ufs}};
    return run_case(argc, argv, cases, sizeof cases / sizeof *cases);
}
