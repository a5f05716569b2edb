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

/* ROMS: a sync after each record, scalars with independent access. */
static void roms(void) {
    int old = 0, scalar = 0, flag = 0, now = 0;
    C(create("roms.nc", NC_CLOBBER | NC_NETCDF4));
    C(nc_set_fill(id, NC_NOFILL, &old));
    define_dims();
    C(nc_def_var(id, "ntimes", NC_INT, 0, NULL, &scalar));
    C(nc_def_var(id, "spherical", NC_CHAR, 0, NULL, &flag));
    C(nc_def_var(id, "ocean_time", NC_DOUBLE, 1, dims, &now));
    C(nc_def_var(id, "h", NC_DOUBLE, 2, &dims[1], &vars[0]));
    C(nc_def_var(id, "temp", NC_FLOAT, 3, dims, &vars[1]));
    C(nc_enddef(id));
    const int n = 42;
    C(nc_put_var_int(id, scalar, &n));
    C(nc_put_var_text(id, flag, "T"));
    const size_t start[] = {0, (size_t)(wide * rank)}, count[] = {levels, wide};
    double h[levels * wide];
    for (int i = 0; i < levels * wide; i++) h[i] = 10 * rank + i;
    C(nc_put_vara_double(id, vars[0], start, count, h));
    C(nc_sync(id));
    for (size_t record = 0; record < 3; record++) {
        const double t = 3600.0 * (double)record;
        C(nc_var_par_access(id, now, NC_COLLECTIVE));
        C(nc_put_var1_double(id, now, &record, &t));
        put_tile(vars[1], record, NC_COLLECTIVE);
        C(nc_sync(id));
        C(nc_var_par_access(id, vars[1], NC_INDEPENDENT));
        get_tile(vars[1], record);
        int back = 0;
        C(nc_get_var_int(id, scalar, &back));
        SHOW(&back, 1);
    }
    C(nc_get_vara_double(id, vars[0], start, count, h));
    SHOW(h, levels * wide);
    C(nc_close(id));
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

/* XIOS: servers with blocks of different sizes, also none, in several files at a time. */
static void xios(void) {
    int ids[3];
    for (int f = 0; f < 3; f++) {
        char path[16];
        snprintf(path, sizeof path, "xios%d.nc", f);
        C(create(path, NC_CLOBBER | NC_NETCDF4));
        ids[f] = id;
        define_dims();
        C(nc_def_var(id, "field", NC_FLOAT, 3, dims, &vars[f]));
        C(nc_def_var(id, "time_bounds", NC_DOUBLE, 2, dims, &vars[f + 3]));
        C(nc_put_att_double(id, vars[f], "_FillValue", NC_FLOAT, 1, (const double[]){-99}));
        C(nc_enddef(id));
        C(nc_var_par_access(id, vars[f], NC_COLLECTIVE));
        C(nc_var_par_access(id, vars[f + 3], NC_COLLECTIVE));
    }
    for (size_t record = 0; record < 3; record++)
        for (int f = 2; f >= 0; f--) {
            const int mine = rank % 2 == 0;
            const size_t start[] = {record, 0, (size_t)(wide * (mine ? rank : 0))},
                         count[] = {mine, mine ? levels - 1 : 0, mine ? wide : 0};
            float x[levels * wide];
            fill(x, levels * wide, 10.0 * f + (double)record);
            C(nc_put_vara_float(ids[f], vars[f], start, count, x));
            const size_t bounds[] = {1, rank == 0 ? levels : 0};
            C(nc_put_vara_double(ids[f], vars[f + 3], (const size_t[]){record, 0}, bounds,
                                 (const double[]){1, 2, 3}));
            if (f == 1) C(nc_sync(ids[f]));
        }
    size_t n = 0;
    C(nc_inq_dimlen(ids[2], dims[0], &n));
    SHOW(&n, 1);
    for (int f = 0; f < 3; f++) {
        float x[levels * wide] = {0};
        C(nc_get_vara_float(ids[f], vars[f], (const size_t[]){1, 0, 0},
                            (const size_t[]){1, levels, wide}, x));
        SHOW(x, levels * wide);
        C(nc_close(ids[f]));
    }
}

/* Exodus: text arrays, a new variable in a later step, access switched between puts. */
static void exodus(void) {
    int names = 0, step = 0;
    C(create("exodus.nc", NC_CLOBBER | NC_NETCDF4 | 0x20000 | 0x40000));
    define_dims();
    const int text[] = {dims[1], dims[3]};
    C(nc_def_var(id, "names", NC_CHAR, 2, text, &names));
    C(nc_def_var(id, "time_whole", NC_DOUBLE, 1, dims, &step));
    C(nc_def_var(id, "connect", NC_INT, 2, &dims[1], &vars[0]));
    C(nc_put_att_float(id, NC_GLOBAL, "api_version", NC_FLOAT, 1, (const float[]){8.25F}));
    C(nc_enddef(id));
    if (rank == 0) {
        for (size_t i = 0; i < levels; i++) {
            const size_t start[] = {i, 0}, count[] = {1, 6};
            C(nc_put_vara_text(id, names, start, count, i == 1 ? "node_y" : "node_x"));
            for (size_t k = 0; k < wide; k++) {
                const int value = (int)(10 * i + k);
                C(nc_put_var1_int(id, vars[0], (const size_t[]){i, k}, &value));
            }
        }
    }
    C(nc_sync(id));
    for (size_t record = 0; record < 2; record++) {
        C(nc_redef(id));
        char name[16];
        snprintf(name, sizeof name, "vals_%d", (int)record);
        C(nc_def_var(id, name, NC_DOUBLE, 3, dims, &vars[1 + record]));
        C(nc_enddef(id));
        const double t = 0.25 * (double)record;
        C(nc_var_par_access(id, step, NC_COLLECTIVE));
        C(nc_put_var1_double(id, step, &record, &t));
        for (size_t i = 0; i <= record; i++) put_tile(vars[1 + i], record, NC_COLLECTIVE);
        C(nc_sync(id));
        C(nc_var_par_access(id, step, NC_INDEPENDENT));
        double back = -1;
        C(nc_get_var1_double(id, step, &record, &back));
        SHOW(&back, 1);
    }
    char back[levels * 19 + 1] = "";
    C(nc_get_vara_text(id, names, (const size_t[]){1, 0}, (const size_t[]){1, 6}, back));
    TEXT(back);
    int connect[wide] = {0};
    C(nc_get_vara_int(id, vars[0], (const size_t[]){2, 0}, (const size_t[]){1, wide}, connect));
    SHOW(connect, wide);
    C(nc_close(id));
}

int main(int argc, char** argv) {
    static const struct Case cases[] = {{"wrf", wrf}, {"fms", fms},   {"roms", roms},
                                        {"ufs", ufs}, {"xios", xios}, {"exodus", exodus}};
    return run_case(argc, argv, cases, sizeof cases / sizeof *cases);
}
