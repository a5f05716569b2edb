/* Tests maps and the shapes of variables: those that fit, those that are refused, and those that
 * programs written for PIO rely on. netCDF-C checks the files.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "rows.h"

static void wrong_maps(void) {
    const int dims[] = {NY, NX};
    PIO_Offset map[] = {rank == ranks - 1 ? NX * NY + 1 : rank + 1};
    int ioid = 0;
    IS(PIOc_InitDecomp(ios, PIO_INT, 2, dims, 1, map, &ioid, NULL, NULL, NULL), NC_EINVAL);
    map[0] = -1;
    IS(PIOc_InitDecomp(ios, PIO_INT, 2, dims, 1, map, &ioid, NULL, NULL, NULL), NC_EINVAL);
    const int none[] = {NY, 0};
    IS(PIOc_InitDecomp(ios, PIO_INT, 2, none, 1, map, &ioid, NULL, NULL, NULL), NC_EINVAL);
    IS(PIOc_InitDecomp(ios, 99, 2, dims, 1, map, &ioid, NULL, NULL, NULL), NC_EBADTYPE);
    IS(PIOc_freedecomp(ios, 12), NC_EBADID);
    IS(PIOc_InitDecomp(12, PIO_INT, 2, dims, 1, map, &ioid, NULL, NULL, NULL), NC_EBADID);
}

/* Tests a wrong map after the first file: the ranks find it when they first use the decomposition.
 */
static void late_wrong_map(void) {
    const int dims[] = {NY, NX};
    PIO_Offset map[] = {rank == ranks - 1 ? NX * NY + 1 : rank + 1};
    file_t f = new_file("late.nc", PIO_IOTYPE_PNETCDF, PIO_CLOBBER);
    int wrong = 0, other = 0, length = 0, whole = dealt_rows(PIO_DOUBLE, &length);
    OK(PIOc_InitDecomp(ios, PIO_DOUBLE, 2, dims, 1, map, &wrong, NULL, NULL, NULL));
    OK(PIOc_InitDecomp(ios, 99, 2, dims, 1, map, &other, NULL, NULL, NULL));
    OK(PIOc_enddef(f.ncid));
    double data[1] = {1};
    OK(PIOc_setframe(f.ncid, f.v, 0));
    for (int i = 0; i < 2; i++) {
        IS(PIOc_write_darray(f.ncid, f.v, wrong, 1, data, NULL), NC_EINVAL);
        IS(PIOc_write_darray(f.ncid, f.v, other, 1, data, NULL), NC_EBADTYPE);
    }
    write_record(&f, whole, length, 0, 0);
    OK(PIOc_closefile(f.ncid));
    expect_record("late.nc", 0, 0);
    OK(PIOc_freedecomp(ios, wrong));
    OK(PIOc_freedecomp(ios, other));
}

/* Tests that no rank waits for one that passes the id of no variable, also in the first call with a
 * decomposition and these names of dimensions. The last file is written by one rank. */
static void wrong_variable_on_one_rank(void) {
    static const char* const names[] = {"columns", "points", "cells"};
    const int types[] = {PIO_IOTYPE_PNETCDF, PIO_IOTYPE_NETCDF4P, PIO_IOTYPE_NETCDF4P};
    const int last = rank == ranks - 1;
    const PIO_Offset start[] = {0, 0, 0}, count[] = {1, 1, 1};
    int length, whole = dealt_rows(PIO_DOUBLE, &length), second;
    double data[NX * NY + 1];
    for (int kind = 0; kind < 3; kind++) {
        const int alike = kind == 2;
        file_t f = new_file("wrong_id.nc", types[kind], PIO_CLOBBER);
        const int v = last ? 99 : f.v;
        OK(PIOc_rename_dim(f.ncid, f.x, names[kind]));
        if (kind == 2) OK(PIOc_def_dim(f.ncid, "second", PIO_UNLIMITED, &second));
        OK(PIOc_enddef(f.ncid));
        OK(PIOc_setframe(f.ncid, f.v, 0));
        fill_rows(data, 0);
        IS(PIOc_write_darray(f.ncid, v, whole, length, data, NULL), last || alike ? NC_ENOTVAR : 0);
        IS(PIOc_sync(f.ncid), ranks > 1 && !alike ? NC_ENOTVAR : 0);
        IS(PIOc_put_vara_double(f.ncid, v, start, count, data), NC_ENOTVAR);
        write_record(&f, whole, length, 0, 0);
        IS(PIOc_read_darray(f.ncid, v, whole, length, data), NC_ENOTVAR);
        IS(PIOc_get_vara_double(f.ncid, v, start, count, data), NC_ENOTVAR);
        OK(PIOc_closefile(f.ncid));
        expect_record("wrong_id.nc", 0, 0);
    }
    OK(PIOc_freedecomp(ios, whole));
}

/* Tests that an element may occur twice in a map for reading, but not in a map for writing. */
static void duplicates(void) {
    const int dims[] = {NY, NX};
    PIO_Offset map[] = {1, 2, 1};
    int ioid = 0, length, whole = dealt_rows(PIO_DOUBLE, &length);
    OK(PIOc_InitDecomp_ReadOnly(ios, PIO_DOUBLE, 2, dims, 3, map, &ioid, NULL, NULL, NULL));
    file_t f = new_file("twice.nc", PIO_IOTYPE_PNETCDF, PIO_CLOBBER);
    OK(PIOc_enddef(f.ncid));
    double data[3] = {1, 2, 3};
    OK(PIOc_setframe(f.ncid, f.v, 0));
    IS(PIOc_write_darray(f.ncid, f.v, ioid, 3, data, NULL), NC_EINVAL);
    OK(PIOc_sync(f.ncid)); /* all ranks have returned this error, so it is not returned again */
    const int last = rank == ranks - 1;
    IS(PIOc_write_darray(f.ncid, f.v, whole, length - last, data, NULL), last ? NC_EINVAL : 0);
    /* The error of one rank is returned on all ranks. */
    IS(PIOc_sync(f.ncid), ranks > 1 ? NC_EINVAL : 0);
    write_record(&f, whole, length, 0, 0);
    OK(PIOc_closefile(f.ncid));
    OK(PIOc_openfile(ios, &f.ncid, &pnetcdf, "twice.nc", PIO_NOWRITE));
    OK(PIOc_read_darray(f.ncid, f.v, ioid, 3, data));
    CHECK(data[0] == 0 && data[1] == 1 && data[2] == 0);
    IS(PIOc_read_darray(f.ncid, f.v, ioid, 2, data), NC_EINVAL);
    OK(PIOc_closefile(f.ncid));
    OK(PIOc_freedecomp(ios, ioid));
}

/* Tests that boxes between holes can be read, whether only one rank has them or all have the same
 * ones, and that holes keep their values; in one record, and in both. */
static void common_boxes(void) {
    enum { BOXES = 2, ROWS = 3, COLUMNS = 4, AROUND = (ROWS + 2) * (COLUMNS + 2) };
    enum { RECORDS = 2, N = BOXES * AROUND };
    const int dims[] = {RECORDS, NY, NX};
    PIO_Offset map[RECORDS * N] = {0};
    int boxes = 0, both = 0, length, whole = dealt_rows(PIO_DOUBLE, &length);
    for (int b = 0; b < BOXES; b++)
        for (int j = 1; j <= ROWS; j++)
            for (int i = 1; i <= COLUMNS; i++)
                map[b * AROUND + j * (COLUMNS + 2) + i] = j * NX + b * (COLUMNS + 2) + i + 1;
    for (int i = 0; i < N; i++) map[N + i] = map[i] > 0 ? map[i] + NY * NX : 0;
    OK(PIOc_InitDecomp(ios, PIO_DOUBLE, 2, dims + 1, N, map, &boxes, NULL, NULL, NULL));
    OK(PIOc_InitDecomp(ios, PIO_DOUBLE, 3, dims, RECORDS * N, map, &both, NULL, NULL, NULL));
    file_t f = new_file("boxes.nc", PIO_IOTYPE_PNETCDF, PIO_CLOBBER);
    OK(PIOc_enddef(f.ncid));
    for (int r = 0; r < RECORDS; r++) write_record(&f, whole, length, r, r * NY * NX);
    OK(PIOc_closefile(f.ncid));
    OK(PIOc_openfile(ios, &f.ncid, &pnetcdf, "boxes.nc", PIO_NOWRITE));
    for (int records = 1; records <= RECORDS; records++) {
        double data[RECORDS * N];
        for (int i = 0; i < records * N; i++) data[i] = -7;
        OK(PIOc_setframe(f.ncid, f.v, 0));
        OK(PIOc_read_darray(f.ncid, f.v, records == 1 ? boxes : both, records * N, data));
        for (int i = 0; i < records * N; i++)
            CHECK(data[i] == (map[i] > 0 ? (double)map[i] - 1 : -7));
    }
    OK(PIOc_closefile(f.ncid));
    OK(PIOc_freedecomp(ios, boxes));
    OK(PIOc_freedecomp(ios, both));
    OK(PIOc_freedecomp(ios, whole));
}

/* Tests decompositions whose shapes and maps together always have the same numbers, but which must
 * differ from each other. */
static void maps_of_the_same_numbers(void) {
    const int matrix[] = {2, 1}, vector[] = {2};
    for (PIO_Offset element = 0; element < 2; element++) {
        int empty, single;
        OK(PIOc_init_decomp(ios, PIO_DOUBLE, 2, matrix, 0, NULL, &empty, 0, NULL, NULL));
        OK(PIOc_init_decomp_ReadOnly(ios, PIO_DOUBLE, 1, vector, 1, &element, &single, 0, NULL,
                                     NULL));
        IS(PIOc_get_local_array_size(empty), 0);
        IS(PIOc_get_local_array_size(single), 1);
        OK(PIOc_freedecomp(ios, empty));
        OK(PIOc_freedecomp(ios, single));
    }
}

/* Makes a file whose time has a fixed length, and puts every record, the last one first. */
static file_t fixed_file(const char* path, int records, int ioid, int length) {
    file_t f = {0};
    OK(PIOc_createfile(ios, &f.ncid, &pnetcdf, path, PIO_CLOBBER));
    OK(PIOc_def_dim(f.ncid, "time", records, &f.time));
    OK(PIOc_def_dim(f.ncid, "y", NY, &f.y));
    OK(PIOc_def_dim(f.ncid, "x", NX, &f.x));
    const int dims[] = {f.time, f.y, f.x};
    OK(PIOc_def_var(f.ncid, "v", PIO_DOUBLE, 3, dims, &f.v));
    OK(PIOc_enddef(f.ncid));
    for (int r = records - 1; r >= 0; r--) write_record(&f, ioid, length, r, r);
    double data[NX * NY + 1];
    fill_rows(data, 6);
    OK(PIOc_setframe(f.ncid, f.v, records));
    IS(PIOc_write_darray(f.ncid, f.v, ioid, length, data, NULL), NC_EINVALCOORDS);
    OK(PIOc_closefile(f.ncid));
    for (int r = 0; r < records; r++) expect_record(path, r, r);
    return f;
}

static void fixed_time(void) {
    int length, ioid = dealt_rows(PIO_DOUBLE, &length), ncid;
    fixed_file("one.nc", 1, ioid, length); /* two frames would have the same place */
    const int v = fixed_file("fixed.nc", 3, ioid, length).v;
    double data[NX * NY + 1], want[NX * NY + 1], other[NX * NY + 1];
    OK(PIOc_openfile(ios, &ncid, &pnetcdf, "fixed.nc", PIO_NOWRITE));
    OK(PIOc_setframe(ncid, v, 1));
    OK(PIOc_advanceframe(ncid, v));
    fill_rows(want, 2);
    OK(PIOc_read_darray(ncid, v, ioid, length, data));
    if (rank == ranks - 1) OK(PIOc_setframe(ncid, v, 1000));
    IS(PIOc_read_darray(ncid, v, ioid, length, other), NC_EINVALCOORDS);
    OK(PIOc_setframe(ncid, v, 1));
    for (int i = 0; i < length - 1; i++) CHECK(data[i] == want[i]);
    OK(PIOc_closefile(ncid));
}

static void wrong_shapes_that_fit(void) {
    const int dims[] = {NX, NY};
    PIO_Offset map[NX * NY];
    int ioid = 0, n = 0;
    for (int i = rank; i < NX * NY; i += ranks) map[n++] = i + 1;
    OK(PIOc_InitDecomp(ios, PIO_DOUBLE, 2, dims, n, map, &ioid, NULL, NULL, NULL));
    file_t f = new_file("shapes.nc", PIO_IOTYPE_PNETCDF, PIO_CLOBBER);
    OK(PIOc_enddef(f.ncid));
    double data[NX * NY] = {0};
    OK(PIOc_setframe(f.ncid, f.v, 0));
    IS(PIOc_write_darray(f.ncid, f.v, ioid, n, data, NULL), NC_EINVAL);
    OK(PIOc_setframe(f.ncid, f.v, -1));
    int length, right = dealt_rows(PIO_DOUBLE, &length);
    double rows[NX * NY + 1];
    IS(PIOc_write_darray(f.ncid, f.v, right, length, rows, NULL), NC_EINVAL); /* error: no frame
                                                                               * was set */
    OK(PIOc_closefile(f.ncid));
}

/* Tests decompositions that have the record dimension, or dimensions of length 1. */
static void other_shapes(void) {
    int ioid, n = 0, one;
    PIO_Offset map[2 * NX * NY], single[NX * NY];
    double data[2 * NX * NY], got[2 * NX * NY];
    const int two[] = {2, NY, NX}, flat[] = {1, NY, NX};
    for (int i = rank; i < 2 * NX * NY; i += ranks) {
        data[n] = i;
        map[n++] = i + 1;
    }
    OK(PIOc_InitDecomp(ios, PIO_DOUBLE, 3, two, n, map, &ioid, NULL, NULL, NULL));
    file_t f = new_file("others.nc", PIO_IOTYPE_PNETCDF, PIO_CLOBBER);
    OK(PIOc_enddef(f.ncid));
    OK(PIOc_write_darray(f.ncid, f.v, ioid, n, data, NULL));
    OK(PIOc_setframe(f.ncid, f.v, 3));
    int m = 0;
    for (int i = rank; i < NX * NY; i += ranks) {
        data[m] = 1000 + i;
        single[m++] = i + 1;
    }
    OK(PIOc_InitDecomp(ios, PIO_DOUBLE, 3, flat, m, single, &one, NULL, NULL, NULL));
    OK(PIOc_write_darray(f.ncid, f.v, one, m, data, NULL));
    OK(PIOc_closefile(f.ncid));
    expect_record("others.nc", 0, 0);
    expect_record("others.nc", 1, NX * NY);
    expect_record("others.nc", 3, 1000);
    OK(PIOc_openfile(ios, &f.ncid, &pnetcdf, "others.nc", PIO_NOWRITE));
    OK(PIOc_read_darray(f.ncid, f.v, ioid, n, got));
    for (int i = 0; i < n; i++) CHECK(got[i] == (double)(map[i] - 1));
    OK(PIOc_closefile(f.ncid));
    OK(PIOc_freedecomp(ios, ioid));
    OK(PIOc_freedecomp(ios, one));
}

int main(int argc, char** argv) {
    if (!begin_system(argc, argv, 1, &ios)) return failures == 0 ? 0 : 1;
    wrong_maps();
    wrong_variable_on_one_rank();
    duplicates();
    common_boxes();
    maps_of_the_same_numbers();
    fixed_time();
    wrong_shapes_that_fit();
    other_shapes();
    late_wrong_map();
    OK(PIOc_finalize(ios));
    MPI_Finalize();
    return failures == 0 ? 0 : 1;
}
