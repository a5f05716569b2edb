/* Makes the calls of netCDF that several models make, and prints what each call returned and what
 * was read, so that a run with netCDF-C can be compared with one that the engine serves.
 *
 * Usage: models CASE
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <mpi.h>
#include <netcdf.h>
#include <netcdf_filter.h>
#include <netcdf_par.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;
static FILE* lines;

/* Prints the result of a call. */
#define C(call) say(__LINE__, call)
static int say(int line, int code) {
    fprintf(lines, "%d: %d\n", line, code);
    return code;
}

#define SHOW(values, n)                                                                            \
    do {                                                                                           \
        fprintf(lines, "%d:", __LINE__);                                                           \
        for (size_t i_ = 0; i_ < (size_t)(n); i_++) fprintf(lines, " %.9g", (double)(values)[i_]); \
        fputc('\n', lines);                                                                        \
    } while (0)
#define TEXT(text) fprintf(lines, "%d: '%s'\n", __LINE__, text)

enum { wide = 6, levels = 3 };
static int id, dims[4], vars[8];

static int create(const char* path, int mode) {
    return nc_create_par(path, mode, MPI_COMM_WORLD, MPI_INFO_NULL, &id);
}
static int reopen(const char* path, int mode) {
    return nc_open_par(path, mode, MPI_COMM_WORLD, MPI_INFO_NULL, &id);
}
static void fill(float* x, size_t n, double first) {
    for (size_t i = 0; i < n; i++) x[i] = (float)(first + 0.5 * (double)i + 100 * rank);
}

/* Defines x (this rank has `wide` of it), z, and t. */
static void define_dims(void) {
    C(nc_def_dim(id, "time", NC_UNLIMITED, &dims[0]));
    C(nc_def_dim(id, "z", levels, &dims[1]));
    C(nc_def_dim(id, "x", (size_t)(wide * ranks), &dims[2]));
    C(nc_def_dim(id, "text", 19, &dims[3]));
}

static void put_tile(int v, size_t record, int access) {
    const size_t start[] = {record, 0, (size_t)(wide * rank)}, count[] = {1, levels, wide};
    float x[levels * wide];
    fill(x, levels * wide, 1000.0 * (double)record + v);
    C(nc_var_par_access(id, v, access));
    C(nc_put_vara_float(id, v, start, count, x));
}

static void get_tile(int v, size_t record) {
    const int other = (rank + 1) % ranks;
    const size_t start[] = {record, 0, (size_t)(wide * other)}, count[] = {1, levels, wide};
    double x[levels * wide] = {0};
    C(nc_get_vara_double(id, v, start, count, x));
    SHOW(x, levels * wide);
}

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

/* Asks for all that a file contains. */
static void ask(void) {
    int n[8] = {0}, list[16] = {0};
    char name[NC_MAX_NAME + 1] = "";
    size_t length = 0;
    C(nc_inq(id, &n[0], &n[1], &n[2], &n[3]));
    C(nc_inq_ndims(id, &n[4]));
    C(nc_inq_nvars(id, &n[5]));
    C(nc_inq_natts(id, &n[6]));
    SHOW(n, 7);
    C(nc_inq_format(id, n));
    C(nc_inq_format_extended(id, &n[1], &n[2]));
    SHOW(n, 3);
    C(nc_inq_unlimdims(id, n, list));
    SHOW(n, 1);
    C(nc_inq_dimids(id, n, list, 1));
    SHOW(list, n[0]);
    C(nc_inq_varids(id, n, list));
    SHOW(list, n[0]);
    C(nc_inq_grps(id, n, list));
    C(nc_inq_typeids(id, n, list));
    C(nc_inq_grpname(id, name));
    TEXT(name);
    C(nc_inq_grpname_full(id, &length, name));
    TEXT(name);
    C(nc_inq_path(id, &length, name));
    TEXT(name);
    for (int d = 0; d < 5; d++) {
        if (C(nc_inq_dim(id, d, name, &length)) != 0) break;
        TEXT(name);
        SHOW(&length, 1);
    }
    for (int v = -1; v < 8; v++) {
        nc_type type = 0;
        int rank_ = 0, some[8] = {0}, attributes = 0;
        if (v >= 0) {
            if (C(nc_inq_var(id, v, name, &type, &rank_, some, &attributes)) != 0) break;
            TEXT(name);
            SHOW(some, rank_);
            const int all[] = {type, rank_, attributes};
            SHOW(all, 3);
        } else {
            C(nc_inq_varnatts(id, NC_GLOBAL, &attributes));
        }
        for (int a = 0; a < attributes; a++) {
            C(nc_inq_attname(id, v, a, name));
            TEXT(name);
            C(nc_inq_att(id, v, name, &type, &length));
            SHOW(&type, 1);
            SHOW(&length, 1);
            double x[32] = {0};
            char text[256] = "";
            if (type == NC_CHAR) {
                C(nc_get_att_text(id, v, name, text));
                TEXT(text);
            } else if (type != NC_STRING) {
                C(nc_get_att_double(id, v, name, x));
                SHOW(x, length);
            }
        }
    }
}

/* Attributes of all types, and their changes; then a reader asks for everything. */
static void attributes(void) {
    static const nc_type types[] = {NC_BYTE,  NC_SHORT,  NC_INT,  NC_FLOAT, NC_DOUBLE,
                                    NC_UBYTE, NC_USHORT, NC_UINT, NC_INT64, NC_UINT64};
    const double x[] = {1, 2.75, 100};
    int other = 0;
    C(create("attributes.nc", NC_CLOBBER | NC_NETCDF4));
    define_dims();
    C(nc_def_var(id, "v", NC_SHORT, 2, &dims[1], &vars[0]));
    C(nc_def_var(id, "s", NC_DOUBLE, 0, NULL, &vars[1]));
    for (int i = 0; i < 10; i++) {
        char name[16];
        snprintf(name, sizeof name, "att%d", i);
        C(nc_put_att_double(id, i % 2 == 0 ? vars[0] : NC_GLOBAL, name, types[i], 3, x));
    }
    C(nc_put_att_text(id, NC_GLOBAL, "empty", 0, ""));
    C(nc_put_att_text(id, NC_GLOBAL, "history", 12, "one\ntwo\nthr"));
    C(nc_put_att_double(id, NC_GLOBAL, "none", NC_DOUBLE, 0, NULL));
    C(nc_put_att_double(id, vars[0], "large", NC_SHORT, 1, (const double[]){1e6}));
    C(nc_del_att(id, vars[0], "large"));
    C(nc_put_att_short(id, vars[0], "_FillValue", NC_SHORT, 1, (const short[]){-9}));
    C(nc_rename_att(id, vars[0], "att0", "renamed"));
    C(nc_del_att(id, NC_GLOBAL, "att3"));
    C(nc_copy_att(id, vars[0], "att2", id, vars[1]));
    C(nc_copy_att(id, NC_GLOBAL, "history", id, vars[1]));
    C(nc_enddef(id));
    const size_t start[] = {0, (size_t)(wide * rank)}, count[] = {1, wide};
    const short s[wide] = {1, 2, 3, 4, 5, 6};
    C(nc_put_vara_short(id, vars[0], start, count, s));
    C(nc_put_att_text(id, NC_GLOBAL, "history", 12, "one\ntwo\nfou"));
    C(nc_put_att_text(id, vars[1], "new", 3, "new"));
    C(nc_put_att_short(id, vars[0], "_FillValue", NC_SHORT, 1, (const short[]){-8}));
    C(nc_del_att(id, vars[0], "att4"));
    ask();
    C(nc_close(id));
    C(reopen("attributes.nc", NC_NOWRITE));
    ask();
    C(nc_inq_varid(id, "v", &other));
    short back[levels * wide] = {0};
    C(nc_get_vara_short(id, other, (const size_t[]){0, 0}, (const size_t[]){levels, wide}, back));
    SHOW(back, levels * wide);
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

/* Storage: byte order, checksums, other filters, caches, fill values, contiguous variables. */
static void storage(void) {
    C(create("storage.nc", NC_CLOBBER | NC_NETCDF4));
    define_dims();
    for (int i = 0; i < 4; i++) {
        char name[8];
        snprintf(name, sizeof name, "s%d", i);
        C(nc_def_var(id, name, NC_INT, 2, &dims[1], &vars[i]));
    }
    C(nc_def_var_endian(id, vars[0], NC_ENDIAN_BIG));
    C(nc_def_var_endian(id, vars[1], NC_ENDIAN_LITTLE));
    C(nc_def_var_fletcher32(id, vars[2], NC_FLETCHER32));
    C(nc_def_var_fill(id, vars[3], NC_FILL, (const int[]){-5}));
    C(nc_def_var_filter(id, vars[3], 1, 1, (const unsigned[]){3}));
    C(nc_def_var_filter(id, vars[3], 7777, 0, NULL));
    C(nc_set_var_chunk_cache(id, vars[1], 1 << 20, 101, 0.5F));
    C(nc_set_var_chunk_cache(id, vars[1], 1 << 20, 101, 1.5F));
    C(nc_enddef(id));
    for (int i = 0; i < 4; i++) {
        const size_t start[] = {1, (size_t)(wide * rank)}, count[] = {2, wide};
        const int x[2 * wide] = {i, 1, 2, 3, 4, 5, 256, 65536, -1, -256, 7, 8};
        C(nc_var_par_access(id, vars[i], NC_COLLECTIVE));
        C(nc_put_vara_int(id, vars[i], start, count, x));
    }
    C(nc_sync(id));
    for (int i = 0; i < 4; i++) {
        int endian = -1, sums = -1, way = -1, none = -1, value = 0, back[levels * wide] = {0};
        C(nc_inq_var_endian(id, vars[i], &endian));
        C(nc_inq_var_fletcher32(id, vars[i], &sums));
        C(nc_inq_var_chunking(id, vars[i], &way, NULL));
        C(nc_inq_var_fill(id, vars[i], &none, &value));
        const int all[] = {endian, sums, way, none, value};
        SHOW(all, 5);
        C(nc_get_vara_int(id, vars[i], (const size_t[]){0, 0}, (const size_t[]){levels, wide},
                          back));
        SHOW(back, levels * wide);
    }
    size_t size = 0, slots = 0;
    float share = 0;
    C(nc_get_var_chunk_cache(id, vars[1], &size, &slots, &share));
    SHOW(&size, 1);
    SHOW(&slots, 1);
    SHOW(&share, 1);
    C(nc_close(id));
}

/* Groups, user-defined types and strings. */
static void groups(void) {
    int group = 0, inner = 0, kind = 0, state = 0, strings = 0, v = 0;
    C(create("groups.nc", NC_CLOBBER | NC_NETCDF4));
    define_dims();
    C(nc_def_var(id, "top", NC_FLOAT, 2, &dims[1], &vars[0]));
    C(nc_put_att_text(id, vars[0], "units", 1, "m"));
    C(nc_def_grp(id, "forecast", &group));
    C(nc_def_grp(group, "inner", &inner));
    C(nc_def_var(inner, "deep", NC_DOUBLE, 1, &dims[2], &v));
    C(nc_def_compound(id, 8, "pair", &kind));
    C(nc_insert_compound(id, kind, "a", 0, NC_INT));
    C(nc_insert_compound(id, kind, "b", 4, NC_FLOAT));
    C(nc_def_enum(id, NC_BYTE, "state", &state));
    C(nc_insert_enum(id, state, "on", (const signed char[]){1}));
    C(nc_def_var(id, "pairs", kind, 1, &dims[2], &vars[1]));
    C(nc_def_var(group, "strings", NC_STRING, 1, &dims[1], &strings));
    C(nc_enddef(id));
    const size_t start[] = {0, (size_t)(wide * rank)}, count[] = {levels, wide};
    float x[levels * wide];
    fill(x, levels * wide, 3);
    C(nc_put_vara_float(id, vars[0], start, count, x));
    struct {
        int a;
        float b;
    } pairs[wide] = {{1, 2}, {3, 4}}, back[wide];
    C(nc_put_vara(id, vars[1], &start[1], &count[1], pairs));
    const double deep[wide] = {1, 2, 3, 4, 5, 6};
    C(nc_put_vara_double(inner, v, &start[1], &count[1], deep));
    C(nc_sync(id));
    C(nc_get_vara(id, vars[1], &start[1], &count[1], back));
    SHOW(&back[1].b, 1);
    ask();
    int n = 0, list[4];
    C(nc_inq_grps(id, &n, list));
    SHOW(&n, 1);
    char name[NC_MAX_NAME + 1] = "";
    size_t length = 0;
    C(nc_inq_grpname_full(inner, &length, name));
    TEXT(name);
    C(nc_close(id));
    C(reopen("groups.nc", NC_NOWRITE));
    ask();
    C(nc_close(id));
}

/* Names in Unicode and with special characters; aborts. */
static void names(void) {
    static const char* const all[] = {"\xc3\xa4",  "a\xcc\x88", "caf\xc3\xa9", "a b",
                                      "a+b.c-d@e", "_x",        "9lives",      "a#b",
                                      "(a)",       "\xff",      "x:y",         "a\tb"};
    int other = 0;
    C(create("names.nc", NC_CLOBBER | NC_NETCDF4));
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        C(nc_def_dim(id, all[i], i + 1, &other));
        C(nc_def_var(id, all[i], NC_INT, 0, NULL, &other));
        C(nc_put_att_int(id, NC_GLOBAL, all[i], NC_INT, 1, &other));
    }
    char longest[NC_MAX_NAME + 3];
    memset(longest, 'n', sizeof longest);
    longest[NC_MAX_NAME + 1] = '\0';
    C(nc_def_dim(id, longest, 3, &other));
    longest[NC_MAX_NAME] = '\0';
    C(nc_def_dim(id, longest, 3, &other));
    C(nc_enddef(id));
    ask();
    C(nc_close(id));
    C(create("aborted.nc", NC_CLOBBER | NC_NETCDF4));
    C(nc_def_dim(id, "x", 4, &other));
    nc_abort(id); /* netCDF-C fails on some ranks */
    C(create("ended.nc", NC_CLOBBER | NC_NETCDF4));
    C(nc_def_dim(id, "x", 4, &other));
    C(nc_def_var(id, "v", NC_INT, 1, &other, &vars[0]));
    C(nc_enddef(id));
    C(nc_put_var_int(id, vars[0], (const int[]){1, 2, 3, 4}));
    C(nc_abort(id));
    C(reopen("ended.nc", NC_WRITE));
    int back[4] = {0};
    C(nc_get_var_int(id, vars[0], back));
    SHOW(back, 4);
    C(nc_redef(id));
    C(nc_rename_dim(id, other, "renamed"));
    C(nc_def_var(id, "w", NC_FLOAT, 1, &other, &vars[1]));
    C(nc_put_att_text(id, vars[1], "units", 1, "K"));
    C(nc_enddef(id));
    C(nc_put_var_float(id, vars[1], (const float[]){4, 3, 2, 1}));
    C(nc_close(id));
}

int main(int argc, char** argv) {
    static const struct {
        const char* name;
        void (*run)(void);
    } cases[] = {{"wrf", wrf},         {"fms", fms},         {"roms", roms},
                 {"ufs", ufs},         {"xios", xios},       {"exodus", exodus},
                 {"maps", maps},       {"errors", errors},   {"attributes", attributes},
                 {"records", records}, {"storage", storage}, {"groups", groups},
                 {"names", names}};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char path[32];
    snprintf(path, sizeof path, "lines.%d", rank);
    lines = fopen(path, "w");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (argc > 1 && strcmp(argv[1], cases[i].name) == 0) cases[i].run();
    fclose(lines);
    MPI_Finalize();
    return 0;
}
