/* Makes unusual calls of PnetCDF, and prints their results on each rank: modes, records, requests,
 * buffers, wrong arguments, fill values, aborted files, files that cannot be made.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "say.h"

static int id, d, t, v, w;
static float x[64];
static double y[64];

static void fresh(const char* path, int mode) {
    SAY(ncmpi_create(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, &id));
    ncmpi_def_dim(id, "n", 4 * ranks, &d);
    ncmpi_def_dim(id, "t", NC_UNLIMITED, &t);
    ncmpi_def_var(id, "v", NC_FLOAT, 1, &d, &v);
    int dims[2] = {t, d};
    ncmpi_def_var(id, "w", NC_SHORT, 2, dims, &w);
}

static long long records(void) {
    MPI_Offset n = -1;
    ncmpi_inq_dimlen(id, t, &n);
    return n;
}

static void modes(void) {
    MPI_Offset s[2] = {4 * rank, 0}, c[2] = {4, 0};
    fresh("a.nc", 0);
    say("id", id);
    SAY(ncmpi_redef(id));
    SAY(ncmpi_put_vara_float_all(id, v, s, c, x));
    SAY(ncmpi_enddef(id));
    SAY(ncmpi_enddef(id));
    SAY(ncmpi_put_vara_float(id, v, s, c, x));
    SAY(ncmpi_put_vara_float_all(id, v, s, c, x));
    s[0] = rank == 0 ? 5 : 2;
    s[1] = 4 * rank;
    c[0] = 1;
    c[1] = 4;
    SAY(ncmpi_put_vara_float_all(id, w, s, c, x));
    say("records", records());
    SAY(ncmpi_begin_indep_data(id));
    SAY(ncmpi_put_vara_float_all(id, w, s, c, x));
    s[0] = 7 + 2 * rank;
    SAY(ncmpi_put_vara_float(id, w, s, c, x));
    say("records", records());
    SAY(ncmpi_sync_numrecs(id));
    say("records", records());
    s[0] += 10;
    SAY(ncmpi_put_vara_float(id, w, s, c, x));
    SAY(ncmpi_end_indep_data(id));
    say("records", records());
    SAY(ncmpi_end_indep_data(id));
    SAY(ncmpi_begin_indep_data(id));
    SAY(ncmpi_begin_indep_data(id));
    SAY(ncmpi_end_indep_data(id));
}

static void requests(void) {
    MPI_Offset s[2] = {30 + rank, 4 * rank}, c[2] = {1, 4}, n = 0;
    int ids[4] = {0}, statuses[4] = {0}, k = 0;
    SAY(ncmpi_iput_vara_float(id, w, s, c, x, &ids[0]));
    say("request", ids[0]);
    say("records", records());
    SAY(ncmpi_inq_nreqs(id, &k));
    say("requests", k);
    SAY(ncmpi_wait_all(id, 1, ids, statuses));
    say("request", ids[0]);
    say("records", records());
    y[1] = 1e9;
    s[0] = 0;
    SAY(ncmpi_put_vara_double_all(id, w, s, c, rank ? y : y + 4));
    SAY(ncmpi_iput_vara_double(id, w, s, c, rank ? y : y + 4, &ids[0]));
    SAY(ncmpi_wait_all(id, 1, ids, statuses));
    say("status", statuses[0]);
    SAY(ncmpi_bput_vara_float(id, w, s, c, x, &ids[0]));
    SAY(ncmpi_inq_buffer_size(id, &n));
    SAY(ncmpi_buffer_detach(id));
    SAY(ncmpi_buffer_attach(id, 0));
    SAY(ncmpi_buffer_attach(id, 20));
    SAY(ncmpi_buffer_attach(id, 20));
    SAY(ncmpi_bput_vara_float(id, w, s, c, x, &ids[0]));
    SAY(ncmpi_inq_buffer_usage(id, &n));
    say("usage", n);
    SAY(ncmpi_bput_vara_double(id, v, s + 1, c + 1, y + 4, &ids[1]));
    say("request", ids[1]);
    SAY(ncmpi_buffer_detach(id));
    SAY(ncmpi_redef(id));
    SAY(ncmpi_inq_nreqs(id, &k));
    say("requests", k);
    SAY(ncmpi_wait_all(id, 1, ids, statuses));
    SAY(ncmpi_enddef(id));
    SAY(ncmpi_wait_all(id, NC_REQ_ALL, NULL, NULL));
    SAY(ncmpi_buffer_detach(id));
    SAY(ncmpi_iput_vara_float(id, v, s + 1, c + 1, x, &ids[0]));
    SAY(ncmpi_cancel(id, 1, ids, statuses));
    say("request", ids[0]);
    SAY(ncmpi_wait(id, NC_REQ_ALL, NULL, NULL));
    ids[0] = NC_REQ_NULL;
    if (rank == 0) ncmpi_iput_vara_float(id, v, s + 1, c + 1, x, &ids[0]);
    SAY(ncmpi_wait_all(id, rank ? 0 : 1, ids, statuses));
    float back[8] = {0};
    x[0] = 77;
    SAY(ncmpi_iput_vara_float(id, v, s + 1, c + 1, x, &ids[0]));
    x[0] = 78;
    SAY(ncmpi_iget_vara_float(id, v, s + 1, c + 1, back, &ids[1]));
    say("request", ids[1]);
    SAY(ncmpi_wait_all(id, 2, ids, statuses));
    say("got", (long long)back[0]);
    ids[0] = 55;
    SAY(ncmpi_cancel(id, 1, ids, statuses));
    say("status", statuses[0]);
}

static void attributes(void) {
    char text[32] = {0};
    SAY(ncmpi_put_att_text(id, NC_GLOBAL, "new", 3, "abc"));
    SAY(ncmpi_redef(id));
    SAY(ncmpi_put_att_text(id, NC_GLOBAL, "title", 5, "hello"));
    SAY(ncmpi_put_att_double(id, v, "title", NC_CHAR, 1, y));
    SAY(ncmpi_put_att_double(id, v, "title", NC_UINT64, 1, y));
    SAY(ncmpi_put_att_double(id, v, "title", 99, 1, y));
    SAY(ncmpi_put_att_double(id, v, "short", NC_SHORT, 2, y));
    SAY(ncmpi_put_att_double(id, NC_GLOBAL, "_FillValue", NC_SHORT, 1, y));
    SAY(ncmpi_put_att_double(id, v, "_FillValue", NC_SHORT, 1, y));
    SAY(ncmpi_put_att_double(id, v, "", NC_SHORT, 1, y));
    SAY(ncmpi_put_att_double(id, 55, "x", NC_SHORT, 1, y));
    SAY(ncmpi_put_att_double(id, v, "x", NC_SHORT, -1, y));
    SAY(ncmpi_put_att_double(id, v, "x", NC_SHORT, 1, NULL));
    SAY(ncmpi_get_att_text(id, v, "short", text));
    SAY(ncmpi_get_att_text(id, v, "none", text));
    SAY(ncmpi_enddef(id));
    SAY(ncmpi_put_att_text(id, NC_GLOBAL, "title", 5, "world"));
    SAY(ncmpi_put_att_text(id, NC_GLOBAL, "title", 6, "longer"));
    SAY(ncmpi_put_att_text(id, NC_GLOBAL, "title", 30, "longer than it was before, by far"));
    SAY(ncmpi_put_att_text(id, NC_GLOBAL, "title", 3, "sho"));
    SAY(ncmpi_del_att(id, NC_GLOBAL, "title"));
    SAY(ncmpi_rename_att(id, NC_GLOBAL, "title", "tit"));
    SAY(ncmpi_rename_att(id, NC_GLOBAL, "none", "tit"));
    SAY(ncmpi_rename_var(id, v, "vv"));
    SAY(ncmpi_rename_var(id, v, "w"));
    SAY(ncmpi_rename_var(id, NC_GLOBAL, "x"));
    SAY(ncmpi_rename_dim(id, d, "m"));
    SAY(ncmpi_rename_dim(id, 77, "m"));
    SAY(ncmpi_del_att(id, NC_GLOBAL, "none"));
    SAY(ncmpi_copy_att(id, NC_GLOBAL, "tit", id, NC_GLOBAL));
}

static void arguments(void) {
    MPI_Offset s[2] = {0, 0}, c[2] = {4, 4}, n = 0, step[2] = {1, 0};
    int k = 0;
    SAY(ncmpi_put_var_float_all(id, v, x));
    SAY(ncmpi_put_vara_text_all(id, v, s, c, "abcd"));
    s[0] = 4 * ranks + 1;
    c[0] = 1;
    SAY(ncmpi_put_vara_float_all(id, v, s, c, x));
    s[0] = 4 * ranks;
    SAY(ncmpi_put_vara_float_all(id, v, s, c, x));
    c[0] = 0;
    SAY(ncmpi_put_vara_float_all(id, v, s, c, x));
    s[0] = 4 * ranks - 2;
    c[0] = 4;
    SAY(ncmpi_put_vara_float_all(id, v, s, c, x));
    c[0] = -1;
    SAY(ncmpi_put_vara_float_all(id, v, s, c, x));
    s[0] = 0;
    c[0] = rank ? 0 : 4;
    SAY(ncmpi_put_vara_float_all(id, v, s, c, x));
    SAY(ncmpi_put_vara_float_all(id, v, NULL, NULL, x));
    c[0] = 2;
    s[0] = rank ? 100 : 0;
    SAY(ncmpi_put_vara_float_all(id, v, s, c, x));
    SAY(ncmpi_put_vara_float_all(id, 77, s, c, x));
    SAY(ncmpi_put_vara_float_all(id, NC_GLOBAL, s, c, x));
    s[0] = 50;
    s[1] = 0;
    c[0] = 1;
    SAY(ncmpi_get_vara_float_all(id, w, s, c, x));
    s[0] = 0;
    SAY(ncmpi_put_vars_float_all(id, w, s, c, step, x));
    SAY(ncmpi_put_vara_all(id, v, s, c, x, 3, MPI_FLOAT));
    SAY(ncmpi_put_vara_all(id, v, s, c, x, 1, MPI_LONG_DOUBLE));
    SAY(ncmpi_put_vara_all(id, v, s, c, x, 0, MPI_DATATYPE_NULL));
    MPI_Datatype mixed;
    const int lengths[2] = {1, 1};
    const MPI_Aint places[2] = {0, 8};
    const MPI_Datatype of[2] = {MPI_FLOAT, MPI_INT};
    MPI_Type_create_struct(2, lengths, places, of, &mixed);
    MPI_Type_commit(&mixed);
    SAY(ncmpi_put_vara_all(id, v, s, c, x, 1, mixed));
    SAY(ncmpi_put_vara_all(id, v, s, c, x, -1, mixed));
    MPI_Type_free(&mixed);
    MPI_Offset p[3][1] = {{0}, {2}, {3}};
    MPI_Offset* starts[3] = {p[0], p[1], p[2]};
    SAY(ncmpi_put_varn_float_all(id, v, rank ? 0 : 3, starts, NULL, x));
    SAY(ncmpi_put_varn_float_all(id, v, 3, NULL, NULL, x));
    SAY(ncmpi_inq_dimlen(id, 77, &n));
    SAY(ncmpi_inq_varid(id, "none", &k));
    SAY(ncmpi_inq_varid(id, "", &k));
    SAY(ncmpi_inq_dimid(id, "none", &k));
    SAY(ncmpi_inq_vartype(id, NC_GLOBAL, &k));
    SAY(ncmpi_inq_varnatts(id, NC_GLOBAL, &k));
    say("attributes", k);
    SAY(ncmpi_inq_att(id, NC_GLOBAL, "none", NULL, NULL));
    SAY(ncmpi_inq_malloc_size(&n));
    SAY(ncmpi_inq_files_opened(&k, NULL));
    say("open", k);
    SAY(ncmpi_sync(id));
    SAY(ncmpi_flush(id));
    SAY(ncmpi_iput_vara_float(id, v, s + 1, c + 1, x, &k));
    SAY(ncmpi_close(id));
    SAY(ncmpi_close(id));
    SAY(ncmpi_put_var_float_all(12345, 0, x));
}

static void files(void) {
    int k = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    SAY(ncmpi_create(MPI_COMM_WORLD, "a.nc", NC_NOCLOBBER, MPI_INFO_NULL, &id));
    SAY(ncmpi_create(MPI_COMM_WORLD, "none/a.nc", 0, MPI_INFO_NULL, &id));
    SAY(ncmpi_open(MPI_COMM_WORLD, "none.nc", 0, MPI_INFO_NULL, &id));
    SAY(ncmpi_create(MPI_COMM_WORLD, "b.nc", NC_NETCDF4, MPI_INFO_NULL, &id));
    SAY(ncmpi_create(MPI_COMM_WORLD, "b.nc", NC_64BIT_OFFSET | NC_64BIT_DATA, MPI_INFO_NULL, &id));
    SAY(ncmpi_create(MPI_COMM_WORLD, "", 0, MPI_INFO_NULL, &id));
    SAY(ncmpi_create(MPI_COMM_WORLD, "b.nc", rank ? NC_64BIT_OFFSET : NC_64BIT_DATA, MPI_INFO_NULL,
                     &id));
    SAY(ncmpi_inq_format(id, &k));
    say("format", k);
    SAY(ncmpi_def_dim(id, "n", 4, &d));
    SAY(ncmpi_def_dim(id, "n", 4, &d));
    SAY(ncmpi_def_dim(id, "", 4, &d));
    SAY(ncmpi_def_dim(id, "a/b", 4, &d));
    SAY(ncmpi_def_dim(id, "neg", -2, &d));
    SAY(ncmpi_def_var(id, "x", NC_STRING, 0, NULL, &k));
    SAY(ncmpi_def_var(id, "x", NC_UINT64, 0, NULL, &k));
    SAY(ncmpi_def_var(id, "x", NC_INT, 0, NULL, &k));
    d = 55;
    SAY(ncmpi_def_var(id, "y", NC_INT, 1, &d, &k));
    SAY(ncmpi_abort(id));
    MPI_Barrier(MPI_COMM_WORLD);
    fresh("c.nc", NC_64BIT_OFFSET);
    SAY(ncmpi_def_dim(id, "u", NC_UNLIMITED, &k));
    int dims[2] = {d, t};
    SAY(ncmpi_def_var(id, "late", NC_INT, 2, dims, &k));
    SAY(ncmpi_def_var(id, "late", NC_UINT, 1, dims, &k));
    SAY(ncmpi_set_fill(id, 7, &k));
    SAY(ncmpi_set_fill(id, NC_FILL, &k));
    say("fill", k);
    SAY(ncmpi_inq_var_fill(id, v, &k, NULL));
    say("no fill", k);
    SAY(ncmpi_def_var_fill(id, NC_GLOBAL, 0, NULL));
    SAY(ncmpi__enddef(id, -1, 0, 0, 0));
    SAY(ncmpi__enddef(id, 1000, 512, 0, 1024));
    SAY(ncmpi_put_var_float_all(id, w, x));
    say("records", records());
    MPI_Offset s[2] = {1, 0}, c[2] = {1, rank ? 0 : 4};
    SAY(ncmpi_put_vara_float_all(id, w, s, c, x));
    SAY(ncmpi_fill_var_rec(id, v, 0));
    SAY(ncmpi_fill_var_rec(id, w, 1));
    short z[256];
    SAY(ncmpi_get_vara_short_all(id, w, s, c, z));
    say("filled", rank ? 0 : z[0]);
    float all[256];
    SAY(ncmpi_get_var_float_all(id, v, all));
    say("filled", all[3] > 1e36);
    SAY(ncmpi_set_fill(id, NC_NOFILL, &k));
    SAY(ncmpi_redef(id));
    SAY(ncmpi_abort(id));
    SAY(ncmpi_open(MPI_COMM_WORLD, "c.nc", NC_NOWRITE, MPI_INFO_NULL, &id));
    SAY(ncmpi_put_vara_float_all(id, w, s, c, x));
    SAY(ncmpi_redef(id));
    SAY(ncmpi_put_att_text(id, NC_GLOBAL, "a", 1, "b"));
    SAY(ncmpi_enddef(id));
    SAY(ncmpi_set_fill(id, NC_FILL, &k));
    SAY(ncmpi_sync(id));
    SAY(ncmpi_close(id));
    if (rank == 0) {
        FILE* const file = fopen("bad.nc", "w");
        fputs("not a netcdf file at all", file);
        fclose(file);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    SAY(ncmpi_open(MPI_COMM_WORLD, "bad.nc", 0, MPI_INFO_NULL, &id));
    SAY(ncmpi_open(MPI_COMM_WORLD, ".", 0, MPI_INFO_NULL, &id));
}

/* Tests that a second id of a file has a mode, requests and a buffer of its own. */
static void second_ids(void) {
    MPI_Offset s[2] = {4 * rank, 0}, c[2] = {4, 0}, n = 0;
    int reader = -1, writer = -1, k = 0;
    float back[4] = {0};
    fresh("d.nc", NC_64BIT_DATA);
    SAY(ncmpi_enddef(id));
    SAY(ncmpi_put_vara_float_all(id, v, s, c, x));
    SAY(ncmpi_sync(id));
    SAY(ncmpi_open(MPI_COMM_WORLD, rank ? "./d.nc" : "d.nc", NC_NOWRITE, MPI_INFO_NULL, &reader));
    SAY(ncmpi_put_vara_float_all(reader, v, s, c, x));
    SAY(ncmpi_iput_vara_float(reader, v, s, c, x, &k));
    SAY(ncmpi_redef(reader));
    SAY(ncmpi_enddef(reader));
    SAY(ncmpi_put_att_text(reader, v, "a", 1, "b"));
    SAY(ncmpi_del_att(reader, v, "a"));
    SAY(ncmpi_rename_var(reader, v, "z"));
    SAY(ncmpi_rename_dim(reader, d, "z"));
    SAY(ncmpi_set_fill(reader, NC_FILL, &k));
    SAY(ncmpi_fill_var_rec(reader, w, 0));
    SAY(ncmpi_get_vara_float_all(reader, v, s, c, back));
    say("got", (long long)back[3]);
    SAY(ncmpi_begin_indep_data(reader));
    SAY(ncmpi_get_vara_float_all(reader, v, s, c, back));
    SAY(ncmpi_put_vara_float_all(id, v, s, c, x + 4));
    SAY(ncmpi_end_indep_data(reader));
    SAY(ncmpi_get_vara_float_all(reader, v, s, c, back));
    say("got", (long long)back[3]);
    SAY(ncmpi_iput_vara_float(id, v, s, c, x, &k));
    SAY(ncmpi_inq_nreqs(reader, &k));
    say("requests", k);
    SAY(ncmpi_wait_all(id, NC_REQ_ALL, NULL, NULL));
    SAY(ncmpi_buffer_attach(id, 100));
    SAY(ncmpi_inq_buffer_size(reader, &n));
    SAY(ncmpi_buffer_detach(id));
    SAY(ncmpi_inq_put_size(reader, &n));
    say("put", n);
    SAY(ncmpi_redef(id));
    SAY(ncmpi_enddef(reader));
    SAY(ncmpi_put_att_text(id, v, "units", 1, "m"));
    SAY(ncmpi_enddef(id));
    SAY(ncmpi_open(MPI_COMM_WORLD, "d.nc", NC_WRITE, MPI_INFO_NULL, &writer));
    SAY(ncmpi_put_vara_float_all(writer, v, s, c, x + 8));
    SAY(ncmpi_close(writer));
    SAY(ncmpi_get_vara_float_all(reader, v, s, c, back));
    say("got", (long long)back[3]);
    SAY(ncmpi_close(id));
    SAY(ncmpi_put_vara_float_all(reader, v, s, c, x));
    SAY(ncmpi_get_vara_float_all(reader, v, s, c, back));
    say("got", (long long)back[3]);
    SAY(ncmpi_close(reader));
    SAY(ncmpi_close(reader));
}

/* Tests names that differ between ranks, the order of errors, and the longest dimensions. */
static void definitions(void) {
    MPI_Offset s[1] = {4 * rank}, c[1] = {4}, n = 0;
    int k = 0;
    float back[4] = {0};
    SAY(ncmpi_create(MPI_COMM_WORLD, "e.nc", NC_64BIT_OFFSET, MPI_INFO_NULL, &id));
    SAY(ncmpi_def_dim(id, rank ? "m" : "n", 4 * ranks, &d));
    SAY(ncmpi_def_var(id, rank ? "vv" : "v", NC_FLOAT, 1, &d, &v));
    SAY(ncmpi_def_var(id, "x", -100, -1, NULL, &k));
    SAY(ncmpi_del_att(id, 55, ""));
    SAY(ncmpi_enddef(id));
    SAY(ncmpi_def_dim(id, NULL, -1, &k));
    SAY(ncmpi_put_vara_float_all(id, v, s, c, x));
    SAY(ncmpi_rename_var(id, v, "z"));
    SAY(ncmpi_rename_var(id, v, "v"));
    SAY(ncmpi_sync(id));
    SAY(ncmpi_rename_var(id, v, "z"));
    SAY(ncmpi_rename_var(id, v, "v"));
    SAY(ncmpi_close(id));
    SAY(ncmpi_open(MPI_COMM_WORLD, "e.nc", NC_NOWRITE, MPI_INFO_NULL, &id));
    SAY(ncmpi_inq_varid(id, "v", &v));
    SAY(ncmpi_get_vara_float_all(id, v, s, c, back));
    say("got", (long long)back[3]);
    SAY(ncmpi_close(id));
    for (int cdf2 = 0; cdf2 < 2; cdf2++) {
        const MPI_Offset longest = cdf2 ? 4294967292 : 2147483644;
        SAY(ncmpi_create(MPI_COMM_WORLD, "f.nc", cdf2 ? NC_64BIT_OFFSET : 0, MPI_INFO_NULL, &id));
        SAY(ncmpi_def_dim(id, "long", longest + 1, &d));
        SAY(ncmpi_def_dim(id, "long", longest, &d));
        SAY(ncmpi_close(id));
        SAY(ncmpi_open(MPI_COMM_WORLD, "f.nc", NC_NOWRITE, MPI_INFO_NULL, &id));
        SAY(ncmpi_inq_dimlen(id, 0, &n));
        say("long", n);
        SAY(ncmpi_close(id));
    }
}

/* Names that are no UTF-8, variables that are too large, and definitions that are undone. */
static void refused(void) {
    static const char* const names[] = {"\xe0\x80\xafx",    "x\xed\xa0\x80", "x\xf0\x8f\xbf\xbf",
                                        "\xf4\x90\x80\x80", "\xe0\xa0\x80",  "\xf4\x8f\xbf\xbf"};
    int n = 0, dims[2];
    MPI_Offset length = 0;
    SAY(ncmpi_create(MPI_COMM_WORLD, "h.nc", NC_64BIT_DATA, MPI_INFO_NULL, &id));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        SAY(ncmpi_def_dim(id, names[i], 3, &d));
    ncmpi_def_dim(id, "t", NC_UNLIMITED, &dims[0]);
    ncmpi_def_dim(id, "huge", NC_MAX_INT64, &dims[1]);
    SAY(ncmpi_def_var(id, "fixed", NC_UINT, 1, &dims[1], &v));
    SAY(ncmpi_def_var(id, "record", NC_UINT, 2, dims, &v));
    SAY(ncmpi_def_var(id, "small", NC_UINT, 1, &dims[0], &v));
    SAY(ncmpi_put_att_text(id, NC_GLOBAL, "title", 5, "first"));
    SAY(ncmpi_put_att_text(id, v, "units", 1, "K"));
    SAY(ncmpi_enddef(id));
    SAY(ncmpi_redef(id));
    SAY(ncmpi_put_att_text(id, NC_GLOBAL, "title", 6, "second"));
    SAY(ncmpi_put_att_text(id, NC_GLOBAL, "late", 1, "x"));
    SAY(ncmpi_del_att(id, v, "units"));
    SAY(ncmpi_rename_var(id, v, "other"));
    ncmpi_abort(id);
    MPI_Barrier(MPI_COMM_WORLD);
    SAY(ncmpi_open(MPI_COMM_WORLD, "h.nc", NC_NOWRITE, MPI_INFO_NULL, &id));
    SAY(ncmpi_inq_natts(id, &n));
    say("attributes", n);
    SAY(ncmpi_inq_attlen(id, NC_GLOBAL, "title", &length));
    say("title", length);
    SAY(ncmpi_inq_varid(id, "small", &v));
    SAY(ncmpi_inq_attlen(id, v, "units", &length));
    SAY(ncmpi_close(id));
}

/* Programs may put the same array into several variables. */
static void shared_arrays(void) {
    enum { many = 3000 };
    static float array[many], back[many];
    MPI_Offset s[1] = {(MPI_Offset)many * rank}, c[1] = {many};
    int variables[3];
    SAY(ncmpi_create(MPI_COMM_WORLD, "g.nc", NC_64BIT_DATA, MPI_INFO_NULL, &id));
    ncmpi_def_dim(id, "n", (MPI_Offset)many * ranks, &d);
    for (int i = 0; i < 3; i++) {
        char name[2] = {(char)('a' + i), 0};
        ncmpi_def_var(id, name, NC_FLOAT, 1, &d, &variables[i]);
    }
    for (int i = 0; i < many; i++) array[i] = (float)(rank + i);
    SAY(ncmpi_enddef(id));
    for (int i = 0; i < 3; i++) SAY(ncmpi_iput_vara_float(id, variables[i], s, c, array, NULL));
    SAY(ncmpi_wait_all(id, NC_REQ_ALL, NULL, NULL));
    for (int i = 0; i < 3; i++) {
        SAY(ncmpi_get_vara_float_all(id, variables[i], s, c, back));
        say("same", memcmp(array, back, sizeof back));
    }
    SAY(ncmpi_close(id));
}

int main(int argc, char** argv) {
    start(&argc, &argv);
    /* Between the parts of a line that rank 0 prints, the launcher would put PnetCDF's warnings of
     * other ranks. */
    if (rank > 0 && freopen("/dev/null", "w", stdout) == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
    for (int i = 0; i < 64; i++) x[i] = (float)i, y[i] = i;
    modes();
    requests();
    attributes();
    arguments();
    files();
    second_ids();
    definitions();
    shared_arrays();
    refused();
    MPI_Finalize();
    return 0;
}
