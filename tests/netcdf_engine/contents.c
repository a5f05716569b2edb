/* Defines what a file may contain, and asks for all of it.
 *
 * Usage: contents CASE
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "calls.h"

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
        size_t filters = 9, parameters = 9;
        unsigned ids[4] = {0}, values[4] = {0};
        C(nc_inq_var_filter_ids(id, vars[i], &filters, NULL));
        SHOW(&filters, 1);
        C(nc_inq_var_filter_ids(id, vars[i], &filters, ids));
        SHOW(ids, filters);
        for (unsigned f = 1; f < 5; f++) {
            if (C(nc_inq_var_filter_info(id, vars[i], f, &parameters, NULL)) != 0) continue;
            SHOW(&parameters, 1);
            C(nc_inq_var_filter_info(id, vars[i], f, NULL, values));
            SHOW(values, parameters);
        }
        int mask = -1, pixels = -1;
        C(nc_inq_var_szip(id, vars[i], &mask, &pixels));
        SHOW(&mask, 1);
        SHOW(&pixels, 1);
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

/* Fill values and their absence, set in each way and order. */
static void fills(void) {
    enum { attribute = 1, deflated = 2, no_fill = 4, mode_before = 8, mode_after = 16, value = 32 };
    static const int kinds[] = {attribute,
                                attribute | deflated,
                                attribute | no_fill,
                                attribute | mode_before,
                                attribute | mode_after,
                                attribute | mode_after | deflated,
                                attribute | mode_before | deflated,
                                no_fill,
                                value,
                                attribute | value};
    const float nines = -9999, eights = -8888, x[] = {1, 2};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const int kind = kinds[k];
        char name[32];
        int none = -1;
        float given = 0, back[4] = {0};
        snprintf(name, sizeof name, "fills%d.nc", kind);
        C(create(name, NC_CLOBBER | NC_NETCDF4));
        if (kind & mode_before) C(nc_set_fill(id, NC_NOFILL, NULL));
        C(nc_def_dim(id, "time", NC_UNLIMITED, &dims[0]));
        C(nc_def_dim(id, "x", 2, &dims[1]));
        C(nc_def_var(id, "v", NC_FLOAT, 2, dims, &vars[0]));
        if (kind & attribute) C(nc_put_att_float(id, vars[0], "_FillValue", NC_FLOAT, 1, &nines));
        C(nc_put_att_text(id, vars[0], "units", 1, "m"));
        if (kind & deflated) C(nc_def_var_deflate(id, vars[0], 1, 1, 1));
        if (kind & no_fill) C(nc_def_var_fill(id, vars[0], NC_NOFILL, NULL));
        if (kind & value) C(nc_def_var_fill(id, vars[0], NC_FILL, &eights));
        if (kind & mode_after) C(nc_set_fill(id, NC_NOFILL, NULL));
        C(nc_enddef(id));
        C(nc_var_par_access(id, vars[0], NC_COLLECTIVE));
        C(nc_put_vara_float(id, vars[0], (const size_t[]){0, 0}, (const size_t[]){1, 2}, x));
        C(nc_inq_var_fill(id, vars[0], &none, &given));
        none = none != 0;
        SHOW(&none, 1);
        SHOW(&given, 1);
        ask();
        C(nc_close(id));
        C(reopen(name, NC_NOWRITE));
        C(nc_inq_var_fill(id, vars[0], &none, &given));
        SHOW(&none, 1);
        SHOW(&given, 1);
        ask();
        C(nc_get_var_float(id, vars[0], back));
        SHOW(back, 2);
        C(nc_close(id));
    }
}

/* Definitions that are abandoned in a file that was opened, and to which something was put. */
static void abandoned(void) {
    for (int kind = 0; kind < 4; kind++) {
        const int explicit_ = kind & 1, puts = kind & 2;
        int other = 0;
        float x[2] = {1, 2}, back[4] = {0};
        char name[32];
        snprintf(name, sizeof name, "abandoned%d.nc", kind);
        C(create(name, NC_CLOBBER | NC_NETCDF4));
        C(nc_def_dim(id, "time", NC_UNLIMITED, &dims[0]));
        C(nc_def_dim(id, "x", 2, &dims[1]));
        C(nc_def_var(id, "v", NC_FLOAT, 2, dims, &vars[0]));
        C(nc_enddef(id));
        C(nc_var_par_access(id, vars[0], NC_COLLECTIVE));
        C(nc_put_vara_float(id, vars[0], (const size_t[]){0, 0}, (const size_t[]){1, 2}, x));
        C(nc_close(id));
        C(reopen(name, NC_WRITE));
        x[1] = 7;
        C(nc_var_par_access(id, vars[0], NC_COLLECTIVE));
        if (puts)
            C(nc_put_vara_float(id, vars[0], (const size_t[]){0, 0}, (const size_t[]){1, 2}, x));
        if (explicit_) C(nc_redef(id));
        C(nc_def_dim(id, "y", 2, &other));
        C(nc_def_var(id, "w", NC_FLOAT, 1, &other, &vars[1]));
        nc_abort(id);
        C(reopen(name, NC_NOWRITE));
        ask();
        C(nc_get_var_float(id, 0, back));
        SHOW(back, 2);
        C(nc_close(id));
    }
}

/* Wrong arguments: names that are NULL, too many dimensions, chunks, and late fill values. */
static void wrong(void) {
    int many[40] = {0}, other = 0;
    const size_t chunk = (size_t)-5;
    C(create("wrong.nc", NC_CLOBBER | NC_NETCDF4));
    define_dims();
    for (int i = 0; i < 40; i++) many[i] = dims[1];
    C(nc_def_dim(id, NULL, 3, &other));
    C(nc_put_att_text(id, NC_GLOBAL, "history", 3, "new"));
    C(nc_del_att(id, NC_GLOBAL, NULL));
    C(nc_put_att_text(id, NC_GLOBAL, "long", (size_t)1 << 62, "text"));
    C(nc_def_var(id, "many", NC_INT, 40, many, &other));
    for (int i = 0; i < 3; i++)
        C(nc_def_var(id, i == 0 ? "a" : i == 1 ? "b" : "c", NC_INT, 1, &dims[2], &vars[i]));
    C(nc_def_var_chunking(id, vars[0], NC_CHUNKED, &chunk));
    C(nc_put_att_int(id, vars[0], "_FillValue", NC_INT, 2, (const int[]){1, 2}));
    C(nc_put_att_int(id, vars[0], "_FillValue", NC_SHORT, 1, (const int[]){1}));
    const size_t start = (size_t)(wide * rank), count = wide;
    C(nc_put_vara_int(id, vars[1], &start, &count, (const int[]){1, 2, 3, 4, 5, 6}));
    for (int i = 0; i < 2; i++) {
        C(nc_put_att_int(id, vars[i], "_FillValue", NC_INT, 2, (const int[]){1, 2}));
        C(nc_put_att_int(id, vars[i], "_FillValue", NC_SHORT, 1, (const int[]){1}));
    }
    C(nc_put_att_int(id, vars[1], "_FillValue", NC_INT, 1, (const int[]){-7}));
    /* Only rank 0 puts values, but all ranks call the collective put. */
    const size_t some = rank == 0 ? wide : 0;
    C(nc_var_par_access(id, vars[2], NC_COLLECTIVE));
    C(nc_put_vara_int(id, vars[2], &start, &some, (const int[]){1, 2, 3, 4, 5, 6}));
    C(nc_put_att_int(id, vars[2], "_FillValue", NC_INT, 1, (const int[]){-7}));
    C(nc_close(id));
    MPI_Barrier(MPI_COMM_WORLD);
    /* netCDF-C has kept empty attributes of the puts that failed. */
    if (rank == 0) remove("wrong.nc");
}

/* A compact variable, and one with unlimited dimension, which cannot be compact. */
static void compact(void) {
    int way = -1, back[levels] = {0};
    C(create("compact.nc", NC_CLOBBER | NC_NETCDF4));
    define_dims();
    C(nc_def_var(id, "small", NC_INT, 1, &dims[1], &vars[0]));
    C(nc_def_var(id, "large", NC_INT, 2, &dims[0], &vars[1]));
    C(nc_def_var_chunking(id, vars[1], NC_COMPACT, NULL));
    C(nc_def_var_chunking(id, vars[0], NC_COMPACT, NULL));
    C(nc_enddef(id));
    C(nc_var_par_access(id, vars[0], NC_COLLECTIVE));
    C(nc_put_var_int(id, vars[0], (const int[]){7, 8, 9}));
    C(nc_close(id));
    C(reopen("compact.nc", NC_NOWRITE));
    C(nc_inq_var_chunking(id, vars[0], &way, NULL));
    C(nc_get_var_int(id, vars[0], back));
    SHOW(&way, 1);
    SHOW(back, levels);
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
    for (int v = -1; v < 3; v++) {
        int shuffle = -1, deflate = -1, level = -1, way = -1;
        C(nc_inq_var_deflate(id, v, &shuffle, &deflate, &level));
        C(nc_inq_var_chunking(id, v, &way, NULL));
        const int given[] = {shuffle, deflate, way};
        SHOW(given, 3);
    }
    C(nc_enddef(id));
    C(nc_put_var_float(id, vars[1], (const float[]){4, 3, 2, 1}));
    C(nc_close(id));
}

/* Files that cannot be opened. */
static void unopened(void) {
    static const char* const names[] = {"none.nc",  "none/none.nc", "text.nc",   "empty.nc",
                                        "short.nc", "magic.nc",     "text.nc/x", ""};
    static const char* const contents[] = {"This is no netCDF file.\n", "", "CDF",
                                           "\211HDF\r\n\032\n"};
    for (int i = 0; i < 4 && rank == 0; i++) {
        FILE* const file = fopen(names[i + 2], "w");
        fputs(contents[i], file);
        fclose(file);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        C(reopen(names[i], NC_NOWRITE));
        C(reopen(names[i], NC_WRITE));
        C(nc_open(names[i], NC_NOWRITE, &id));
    }
    C(create("ended.nc", NC_CLOBBER | NC_NETCDF4));
    C(nc_close(id));
}

int main(int argc, char** argv) {
    static const struct Case cases[] = {
        {"attributes", attributes}, {"storage", storage}, {"fills", fills},
        {"abandoned", abandoned},   {"wrong", wrong},     {"compact", compact},
        {"groups", groups},         {"names", names},     {"unopened", unopened}};
    return run_case(argc, argv, cases, sizeof cases / sizeof *cases);
}
