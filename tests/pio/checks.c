/* Tests names and checks of PIO's C interface that few programs need.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <fenv.h>
#include <limits.h>
#include <math.h>
#include <unistd.h>

#include "rows.h"

static int netcdf4 = PIO_IOTYPE_NETCDF4P;

/* Tests the values of constants, which are compiled into programs. */
static void values_of_constants(void) {
    CHECK(PIO_NOQUANTIZE == 0 && PIO_QUANTIZE_BITGROOM == 1 && PIO_QUANTIZE_GRANULARBR == 2);
    CHECK(PIO_QUANTIZE_BITROUND == 3 && PIO_REQ_NULL == -2);
    CHECK(PIO_EDAPSVC == -70 && PIO_EDAS == -71 && PIO_EDDS == -72 && PIO_EDATADDS == -73);
    CHECK(PIO_EDAPURL == -74 && PIO_EDAPCONSTRAINT == -75 && PIO_ETRANSLATION == -76);
    CHECK(PIO_EVARDIMMISMATCH == -501);
}

static void chunk_caches(void) {
    PIO_Offset size = 0, n = 0;
    float preemption = 0;
    for (int type = PIO_IOTYPE_PNETCDF; type <= PIO_IOTYPE_NETCDF; type++) {
        IS(PIOc_set_chunk_cache(ios, type, 1024, 7, 0.5F), NC_ENOTNC4);
        IS(PIOc_get_chunk_cache(ios, type, &size, &n, &preemption), NC_ENOTNC4);
    }
    OK(PIOc_set_chunk_cache(ios, PIO_IOTYPE_NETCDF4P, 1 << 20, 521, 0.25F));
    IS(PIOc_set_chunk_cache(ios, PIO_IOTYPE_NETCDF4P, 1 << 20, 521, 1.5F), NC_EINVAL);
    OK(PIOc_get_chunk_cache(ios, PIO_IOTYPE_NETCDF4C, &size, &n, &preemption));
    CHECK(size == 1 << 20 && n == 521 && preemption == 0.25F);
    OK(PIOc_get_chunk_cache(ios, PIO_IOTYPE_NETCDF4C, NULL, NULL, NULL));
    file_t f = new_file("cache.nc", PIO_IOTYPE_NETCDF4P, PIO_CLOBBER);
    OK(PIOc_get_var_chunk_cache(f.ncid, f.v, &size, &n, &preemption));
    CHECK(size == 1 << 20 && n == 521 && preemption == 0.25F);
    OK(PIOc_set_var_chunk_cache(f.ncid, f.v, 4096, 11, 0.75F));
    IS(PIOc_set_var_chunk_cache(f.ncid, f.v, 4096, 11, -1), NC_EINVAL);
    IS(PIOc_set_var_chunk_cache(f.ncid, f.v + 1, 4096, 11, 0.5F), NC_ENOTVAR);
    OK(PIOc_get_var_chunk_cache(f.ncid, f.v, &size, &n, &preemption));
    CHECK(size == 4096 && n == 11 && preemption == 0.75F);
    OK(PIOc_closefile(f.ncid));
    f = new_file("nocache.nc", PIO_IOTYPE_NETCDF, PIO_CLOBBER);
    IS(PIOc_set_var_chunk_cache(f.ncid, f.v, 4096, 11, 0.5F), NC_ENOTNC4);
    IS(PIOc_get_var_chunk_cache(f.ncid, f.v, &size, &n, &preemption), NC_ENOTNC4);
    OK(PIOc_closefile(f.ncid));
}

static void arrays_of_several_variables(void) {
    int length, ioid = dealt_rows(PIO_DOUBLE, &length), fixed, second;
    file_t f = new_file("multi.nc", PIO_IOTYPE_PNETCDF, PIO_CLOBBER);
    const int dims[] = {f.time, f.y, f.x};
    OK(PIOc_def_var(f.ncid, "second", PIO_DOUBLE, 3, dims, &second));
    OK(PIOc_def_var(f.ncid, "fixed", PIO_DOUBLE, 2, dims + 1, &fixed));
    OK(PIOc_enddef(f.ncid));
    double data[2 * (NX * NY + 1)];
    fill_rows(data, 3);
    fill_rows(data + length, 4);
    const int both[] = {f.v, second}, mixed[] = {f.v, fixed}, unknown[] = {f.v, 99};
    const int frames[] = {0, 0};
    for (int n = -1; n < 1; n++)
        IS(PIOc_write_darray_multi(f.ncid, both, ioid, n, length, data, frames, NULL, false),
           NC_EINVAL);
    IS(PIOc_write_darray_multi(f.ncid, mixed, ioid, 2, length, data, frames, NULL, false),
       PIO_EVARDIMMISMATCH);
    IS(PIOc_write_darray_multi(f.ncid, unknown, ioid, 2, length, data, frames, NULL, false),
       NC_ENOTVAR);
    IS(PIOc_write_darray_multi(f.ncid, NULL, ioid, 2, length, data, frames, NULL, false),
       NC_EINVAL);
    OK(PIOc_write_darray_multi(f.ncid, both, ioid, 2, length, data, frames, NULL, true));
    OK(PIOc_closefile(f.ncid));
    expect_record("multi.nc", 0, 3);
}

static void long_names(void) {
    char name[NC_MAX_NAME + 2], longest[NC_MAX_NAME + 1];
    memset(name, 'n', sizeof name);
    name[NC_MAX_NAME + 1] = '\0';
    memset(longest, 'm', sizeof longest);
    longest[NC_MAX_NAME] = '\0';
    file_t f = new_file("names.nc", PIO_IOTYPE_PNETCDF, PIO_CLOBBER);
    int id;
    IS(PIOc_def_dim(f.ncid, name, 3, &id), NC_EINVAL);
    IS(PIOc_def_var(f.ncid, name, PIO_INT, 1, &f.x, &id), NC_EINVAL);
    IS(PIOc_rename_dim(f.ncid, f.x, name), NC_EINVAL);
    IS(PIOc_rename_var(f.ncid, f.v, name), NC_EINVAL);
    IS(PIOc_rename_att(f.ncid, f.v, "title", name), NC_EINVAL);
    IS(PIOc_put_att_text(f.ncid, f.v, name, 1, "a"), NC_EINVAL);
    IS(PIOc_inq_varid(f.ncid, name, &id), NC_EINVAL);
    OK(PIOc_rename_dim(f.ncid, f.x, longest));
    OK(PIOc_enddef(f.ncid));
    IS(PIOc_rename_dim(f.ncid, f.x, name), NC_EINVAL);
    IS(PIOc_rename_dim(f.ncid, f.x, "x"), NC_ENOTINDEFINE);
    OK(PIOc_closefile(f.ncid));
}

/* Tests that an error that a call has returned on all ranks is not returned again. */
static void short_arrays(int all) {
    int length, ioid = dealt_rows(PIO_DOUBLE, &length);
    file_t f = new_file("short.nc", PIO_IOTYPE_PNETCDF, PIO_CLOBBER);
    const int wrong = all || rank == 0;
    double data[NX * NY + 1];
    OK(PIOc_enddef(f.ncid));
    for (int again = 0; again < 2; again++) {
        fill_rows(data, 5);
        OK(PIOc_setframe(f.ncid, f.v, 0));
        IS(PIOc_write_darray(f.ncid, f.v, ioid, length - wrong, data, NULL), wrong ? NC_EINVAL : 0);
        OK(PIOc_write_darray(f.ncid, f.v, ioid, length, data, NULL));
        IS(PIOc_sync(f.ncid), all || ranks == 1 ? 0 : NC_EINVAL);
        OK(PIOc_sync(f.ncid));
    }
    OK(PIOc_closefile(f.ncid));
    expect_record("short.nc", 0, 5);
}

/* Tests that NaN does not fit an integer, and that unsigned bytes are converted as netCDF converts
 * them. */
static void conversions(int iotype, int mode) {
    const int types[] = {PIO_BYTE, PIO_SHORT, PIO_INT};
    const int fills[] = {NC_FILL_BYTE, NC_FILL_SHORT, NC_FILL_INT};
    int ncid, x, v[3], bytes, length = ranks, ioid, classic = mode != PIO_64BIT_DATA;
    if (iotype == PIO_IOTYPE_NETCDF4P) classic = 0;
    OK(PIOc_createfile(ios, &ncid, &iotype, "convert.nc", mode));
    OK(PIOc_def_dim(ncid, "x", ranks, &x));
    const double nan = NAN;
    const unsigned char large = 200;
    for (int t = 0; t < 3; t++) {
        const char name[] = {'v', (char)('0' + t), '\0'};
        OK(PIOc_def_var(ncid, name, types[t], 1, &x, &v[t]));
        IS(PIOc_put_att_double(ncid, v[t], "nan", types[t], 1, &nan), NC_ERANGE);
        long long got = 1;
        OK(PIOc_get_att_longlong(ncid, v[t], "nan", &got));
        CHECK(got == fills[t]);
    }
    OK(PIOc_def_var(ncid, "bytes", PIO_BYTE, 1, &x, &bytes));
    IS(PIOc_put_att_uchar(ncid, bytes, "large", PIO_BYTE, 1, &large), classic ? 0 : NC_ERANGE);
    if (classic) {
        unsigned char got = 0;
        signed char same = 0;
        OK(PIOc_get_att_uchar(ncid, bytes, "large", &got));
        OK(PIOc_get_att_schar(ncid, bytes, "large", &same));
        CHECK(got == 200 && same == -56);
    }
    OK(PIOc_enddef(ncid));
    const PIO_Offset map = rank + 1, first = 0, one = 1;
    OK(PIOc_InitDecomp(ios, PIO_DOUBLE, 1, &length, 1, &map, &ioid, NULL, NULL, NULL));
    double mine = NAN;
    for (int t = 0; t < 3; t++) IS(PIOc_write_darray(ncid, v[t], ioid, 1, &mine, NULL), NC_ERANGE);
    if (classic) OK(PIOc_put_vara_uchar(ncid, bytes, &first, &one, &large));
    OK(PIOc_sync(ncid));
    for (int t = 0; t < 3; t++) {
        long long got = 1;
        OK(PIOc_get_var1_longlong(ncid, v[t], &first, &got));
        CHECK(got == fills[t]);
        if (t == 2) continue;
        IS(PIOc_put_var1_double(ncid, v[t], &first, &nan), NC_ERANGE);
        mine = 1e9;
        IS(PIOc_write_darray(ncid, v[t], ioid, 1, &mine, NULL), NC_ERANGE);
        mine = NAN;
    }
    if (classic) {
        signed char got = 0;
        OK(PIOc_get_var1_schar(ncid, bytes, &first, &got));
        CHECK(got == -56);
    }
    OK(PIOc_freedecomp(ios, ioid));
    OK(PIOc_closefile(ncid));
}

static void filters(void) {
    file_t f = new_file("filters.nc", PIO_IOTYPE_NETCDF4P, PIO_CLOBBER);
    int length, ioid = dealt_rows(PIO_DOUBLE, &length), w;
    const int dims[] = {f.time, f.y, f.x};
    unsigned level = 3, deep = 12, id[4] = {0}, got = 0;
    size_t n = 0;
    OK(PIOc_def_var(f.ncid, "w", PIO_DOUBLE, 3, dims, &w));
    OK(PIOc_def_var_filter(f.ncid, f.v, 2, 0, NULL));
    OK(PIOc_def_var_filter(f.ncid, f.v, 1, 1, &level));
    IS(PIOc_def_var_filter(f.ncid, f.v, 1, 1, &deep), NC_EINVAL);
    IS(PIOc_def_var_filter(f.ncid, f.v, 1, 0, NULL), NC_EFILTER);
    IS(PIOc_def_var_filter(f.ncid, w, 4711, 1, &level), NC_ENOFILTER);
    IS(PIOc_inq_filter_avail(f.ncid, 4711), NC_ENOFILTER);
    OK(PIOc_inq_filter_avail(f.ncid, 1));
    /* With Fletcher's checksum, one rank writes the file by netCDF-C. */
    OK(PIOc_def_var_filter(f.ncid, w, 3, 0, NULL));
    OK(PIOc_enddef(f.ncid));
    write_record(&f, ioid, length, 0, 1);
    for (int opened = 0; opened < 2; opened++) {
        OK(PIOc_inq_var_filter_ids(f.ncid, f.v, &n, id));
        CHECK(n == 2 && id[0] == 2 && id[1] == 1);
        OK(PIOc_inq_var_filter_info(f.ncid, f.v, 1, &n, &got));
        CHECK(n == 1 && got == 3);
        OK(PIOc_inq_var_filter_ids(f.ncid, w, &n, id));
        CHECK(n == 1 && id[0] == 3);
        IS(PIOc_inq_var_filter_info(f.ncid, w, 1, &n, &got), NC_ENOFILTER);
        OK(PIOc_closefile(f.ncid));
        if (opened == 0) OK(PIOc_openfile(ios, &f.ncid, &netcdf4, "filters.nc", PIO_NOWRITE));
    }
    expect_record("filters.nc", 0, 1);
    f = new_file("nofilters.nc", PIO_IOTYPE_PNETCDF, PIO_CLOBBER);
    IS(PIOc_def_var_filter(f.ncid, f.v, 1, 1, &level), NC_ENOTNC4);
    IS(PIOc_inq_var_filter_ids(f.ncid, f.v, &n, id), NC_ENOTNC4);
    OK(PIOc_closefile(f.ncid));
}

static void decompositions_in_files(int mode, const char* path) {
    int length, ioid = dealt_rows(PIO_DOUBLE, &length), back = 0, order = -1;
    char title[PIO_MAX_NAME + 1] = "", history[PIO_MAX_NAME + 1] = "";
    OK(PIOc_write_nc_decomp(ios, path, mode, ioid, "a title", "a history", 1));
    IS(PIOc_write_nc_decomp(ios, path, mode | PIO_NOCLOBBER, ioid, NULL, NULL, 0), NC_EEXIST);
    IS(PIOc_write_nc_decomp(ios, NULL, mode, ioid, NULL, NULL, 0), NC_EINVAL);
    IS(PIOc_write_nc_decomp(ios, path, mode, ioid + 1000, NULL, NULL, 0), NC_EBADID);
    int created = 0;
    IS(PIOc_createfile(ios, &created, &pnetcdf, path, PIO_NOCLOBBER), NC_EEXIST);
    IS(PIOc_read_nc_decomp(ios, "nosuch.nc", &back, world, PIO_DOUBLE, NULL, NULL, NULL), 2);
    OK(PIOc_read_nc_decomp(ios, path, &back, world, PIO_DOUBLE, title, history, &order));
    CHECK(strcmp(title, "a title") == 0 && strcmp(history, "a history") == 0 && order == 1);
    IS(PIOc_get_local_array_size(back), length);
    file_t f = new_file("by_file.nc", PIO_IOTYPE_PNETCDF, PIO_CLOBBER);
    OK(PIOc_enddef(f.ncid));
    write_record(&f, back, length, 0, 6);
    OK(PIOc_closefile(f.ncid));
    expect_record("by_file.nc", 0, 6);
    OK(PIOc_freedecomp(ios, ioid));
    OK(PIOc_freedecomp(ios, back));
    if (rank != 0) return;
    /* As in PIO, elements are counted from 0, and -1 is a hole. */
    int ncid, map, sizes[2], lengths[64], first[NX];
    const size_t start[] = {0, 0}, count[] = {1, NX}, hole[] = {0, (size_t)length - 1};
    OK(nc_open(path, NC_NOWRITE, &ncid));
    OK(nc_inq_varid(ncid, "global_size", &map));
    OK(nc_get_var_int(ncid, map, sizes));
    CHECK(sizes[0] == NY && sizes[1] == NX);
    OK(nc_inq_varid(ncid, "maplen", &map));
    OK(nc_get_var_int(ncid, map, lengths));
    IS(lengths[0], length);
    OK(nc_inq_varid(ncid, "map", &map));
    OK(nc_get_vara_int(ncid, map, start, count, first));
    for (int i = 0; i < NX; i++) IS(first[i], i);
    OK(nc_get_var1_int(ncid, map, hole, first));
    IS(first[0], -1);
    OK(nc_close(ncid));
}

static void asynchronous_arguments(void) {
    int io = 0, compute = ranks, id = 0;
    MPI_Comm parts = world;
    for (int rearranger = -1; rearranger < 4; rearranger += 4)
        IS(PIOc_init_async(world, 1, &io, 1, &compute, NULL, NULL, NULL, rearranger, &id),
           NC_EINVAL);
    IS(PIOc_init_async(world, 0, &io, 1, &compute, NULL, NULL, NULL, PIO_REARR_BOX, &id),
       NC_EINVAL);
    IS(PIOc_init_async(world, 1, &io, 0, &compute, NULL, NULL, NULL, PIO_REARR_BOX, &id),
       NC_EINVAL);
    IS(PIOc_init_async_from_comms(world, 1, &parts, MPI_COMM_NULL, 7, &id), NC_EINVAL);
}

int main(int argc, char** argv) {
    if (!begin_system(argc, argv, 1, &ios)) return failures == 0 ? 0 : 1;
    const int traps = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW;
    feenableexcept(traps); /* values that do not fit raise none */
    values_of_constants();
    chunk_caches();
    arrays_of_several_variables();
    long_names();
    short_arrays(1);
    short_arrays(0);
    conversions(PIO_IOTYPE_PNETCDF, PIO_CLOBBER);
    conversions(PIO_IOTYPE_PNETCDF, PIO_64BIT_OFFSET);
    conversions(PIO_IOTYPE_PNETCDF, PIO_64BIT_DATA);
    conversions(PIO_IOTYPE_NETCDF4P, PIO_CLOBBER);
    filters();
    decompositions_in_files(PIO_CLOBBER, "decomp.nc");
    decompositions_in_files(NC_NETCDF4, "decomp4.nc");
    asynchronous_arguments();
    CHECK(fegetexcept() == traps);
    OK(PIOc_free_iosystem(ios));
    OK(PIOc_set_iosystem_error_handling(PIO_DEFAULT, PIO_RETURN_ERROR, NULL));
    IS(PIOc_finalize(ios), NC_EBADID);
    MPI_Finalize();
    return failures == 0 ? 0 : 1;
}
