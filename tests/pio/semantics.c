/* Tests behaviour that programs written for PIO rely on, one function each. netCDF-C checks the
 * files.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "rows.h"

#include <unistd.h>

static int netcdf4 = PIO_IOTYPE_NETCDF4P;

static void codes_are_those_of_netcdf(void) {
    file_t f = new_file("codes.nc", PIO_IOTYPE_PNETCDF, PIO_CLOBBER);
    int id = 0, ncid = f.ncid, bad = 17, old = 0;
    char text[PIO_MAX_NAME + 1];
    IS(PIOc_inq_varid(ncid, "none", &id), NC_ENOTVAR);
    IS(PIOc_inq_dimid(ncid, "none", &id), NC_EBADDIM);
    IS(PIOc_inq_att(ncid, f.v, "none", NULL, NULL), NC_ENOTATT);
    IS(PIOc_inq_varname(ncid, 12, text), NC_ENOTVAR);
    IS(PIOc_def_dim(ncid, "x", 3, &id), NC_ENAMEINUSE);
    IS(PIOc_def_dim(ncid, "second", PIO_UNLIMITED, &id), NC_EUNLIMIT);
    IS(PIOc_def_var(ncid, "v", PIO_INT, 0, NULL, &id), NC_ENAMEINUSE);
    IS(PIOc_def_var(ncid, "w", 77, 0, NULL, &id), NC_EBADTYPE);
    IS(PIOc_def_var(ncid, "w", PIO_INT64, 0, NULL, &id), NC_EBADTYPE);
    const int newer[] = {PIO_UBYTE, PIO_USHORT, PIO_UINT, PIO_INT64, PIO_UINT64};
    const long long zero = 0;
    for (size_t t = 0; t < sizeof newer / sizeof newer[0]; t++)
        IS(PIOc_put_att(ncid, f.v, "newer", newer[t], 1, &zero), NC_EBADTYPE);
    IS(PIOc_inq_att(ncid, f.v, "newer", NULL, NULL), NC_ENOTATT);
    IS(PIOc_def_var(ncid, "", PIO_INT, 0, NULL, &id), NC_EBADNAME);
    const int back[] = {f.x, f.time};
    IS(PIOc_def_var(ncid, "w", PIO_INT, 2, back, &id), NC_EUNLIMPOS);
    IS(PIOc_redef(ncid), NC_EINDEFINE);
    IS(PIOc_sync(ncid), NC_EINDEFINE);
    OK(PIOc_enddef(ncid));
    IS(PIOc_enddef(ncid), NC_ENOTINDEFINE);
    IS(PIOc_def_dim(ncid, "late", 3, &id), NC_ENOTINDEFINE);
    IS(PIOc_put_att_text(ncid, f.v, "title", 30, "a title longer than it was....."),
       NC_ENOTINDEFINE);
    OK(PIOc_put_att_text(ncid, f.v, "title", 5, "short"));
    const PIO_Offset start[] = {0, 3, 0}, count[] = {1, 3, NX};
    double data[NY * NX] = {0};
    IS(PIOc_put_vara_double(ncid, f.v, start, count, data), NC_EEDGE);
    IS(PIOc_get_vara_double(ncid, f.v, start, count, data), NC_EINVALCOORDS);
    IS(PIOc_put_vara_text(ncid, f.v, start, count, "text"), NC_ECHAR);
    IS(PIOc_set_fill(ncid, PIO_FILL, &old), 0);
    IS(old, PIO_NOFILL);
    IS(PIOc_set_fill(ncid, PIO_NOFILL, &old), 0);
    IS(old, PIO_FILL);
    OK(PIOc_closefile(ncid));
    IS(PIOc_closefile(ncid), NC_EBADID);
    IS(PIOc_createfile(ios, &id, &pnetcdf, "codes.nc", PIO_NOCLOBBER), NC_EEXIST);
    IS(PIOc_createfile(ios, &id, &bad, "bad.nc", PIO_CLOBBER), PIO_EBADIOTYPE);
    OK(PIOc_createfile(ios, &id, &pnetcdf, rank == 0 ? "first.nc" : "other.nc", PIO_CLOBBER));
    OK(PIOc_closefile(id));
    OK(PIOc_openfile(ios, &id, &pnetcdf, "first.nc", PIO_NOWRITE));
    OK(PIOc_closefile(id));
    CHECK(PIOc_createfile(ios, &id, &pnetcdf, "no/such/folder/x.nc", PIO_CLOBBER) != 0);
    OK(PIOc_openfile(ios, &id, &pnetcdf, "codes.nc", PIO_NOWRITE));
    IS(PIOc_redef(id), NC_EPERM);
    IS(PIOc_put_att_text(id, f.v, "title", 5, "other"), NC_EPERM);
    IS(PIOc_put_vara_double(id, f.v, start, count, data), NC_EPERM);
    OK(PIOc_get_att_text(id, f.v, "title", text));
    CHECK(strncmp(text, "short", 5) == 0);
    OK(PIOc_closefile(id));
    IS(PIOc_openfile(ios, &id, &pnetcdf, "missing.nc", PIO_NOWRITE), 2);
    if (rank == 0) fclose(fopen("empty.nc", "w"));
    MPI_Barrier(world);
    IS(PIOc_openfile(ios, &id, &pnetcdf, "empty.nc", PIO_NOWRITE), NC_ENOTNC);
    OK(PIOc_strerror(NC_ENOTVAR, text));
    CHECK(strcmp(text, nc_strerror(NC_ENOTVAR)) == 0);
    OK(PIOc_deletefile(ios, "codes.nc"));
    CHECK(PIOc_deletefile(ios, "codes.nc") != 0);
}

static void handlers_belong_to_the_iosystem(void) {
    int old = 0, length;
    OK(PIOc_set_iosystem_error_handling(ios, PIO_BCAST_ERROR, &old));
    IS(old, PIO_RETURN_ERROR);
    file_t f = new_file("handler.nc", PIO_IOTYPE_PNETCDF, PIO_CLOBBER);
    IS(PIOc_Set_File_Error_Handling(f.ncid, PIO_RETURN_ERROR), PIO_BCAST_ERROR);
    IS(PIOc_Set_IOSystem_Error_Handling(ios, PIO_RETURN_ERROR), PIO_RETURN_ERROR);
    OK(PIOc_closefile(f.ncid));
    IS(PIOc_get_local_array_size(dealt_rows(PIO_INT, &length)), length);
}

// Tests that the section of the root is written, whatever other ranks pass. An error in it must be
// returned on all ranks, even if only one rank writes the file.
static void section_of_the_root(int iotype, const char* path, int level) {
    file_t f;
    int d, v, values[4] = {1 + rank, 2, 3, 4}, got[4] = {0, 0, 0, 0};
    OK(PIOc_createfile(ios, &f.ncid, &iotype, path, PIO_CLOBBER));
    OK(PIOc_def_dim(f.ncid, "d", 4, &d));
    OK(PIOc_def_var(f.ncid, "v", PIO_INT, 1, &d, &v));
    if (level > 0) OK(PIOc_def_var_deflate(f.ncid, v, 0, 1, level));
    OK(PIOc_enddef(f.ncid));
    PIO_Offset start = rank == 0 ? 1 : 77, count = rank == 0 ? 3 : -5;
    OK(PIOc_put_vara_int(f.ncid, v, &start, &count, values));
    IS(PIOc_put_vara_int(f.ncid, v, rank == 0 ? NULL : &start, &count, values), PIO_EINVAL);
    start = rank == 0 ? 9 : 0;
    count = 1;
    IS(PIOc_put_vara_int(f.ncid, v, &start, &count, values), NC_EINVALCOORDS);
    start = 0;
    OK(PIOc_put_vara_int(f.ncid, v, &start, &count, values));
    OK(PIOc_closefile(f.ncid));
    OK(PIOc_openfile(ios, &f.ncid, &iotype, path, PIO_NOWRITE));
    OK(PIOc_get_var_int(f.ncid, v, got));
    CHECK(got[0] == 1 && got[1] == 1 && got[2] == 2 && got[3] == 3);
    OK(PIOc_closefile(f.ncid));
}

/* Tests that a wrong section on the last rank is an error on all ranks, and that each rank reads
 * its own section. */
static void wrong_section_on_one_rank(void) {
    file_t f = new_file("wrong.nc", PIO_IOTYPE_PNETCDF, PIO_CLOBBER);
    OK(PIOc_enddef(f.ncid));
    const PIO_Offset zero[] = {0, 0, 0}, one[] = {1, 1, 1}, many[] = {1, NY + 1, 1};
    double value = 1;
    OK(PIOc_put_vara_double(f.ncid, f.v, zero, one, &value));
    const int last = rank == ranks - 1;
    IS(PIOc_get_vara_double(f.ncid, f.v, zero, last ? many : one, &value), NC_EEDGE);
    IS(PIOc_get_vara_double(f.ncid, f.v, last ? NULL : zero, one, &value), PIO_EINVAL);
    OK(PIOc_get_vara_double(f.ncid, f.v, zero, one, &value));
    OK(PIOc_closefile(f.ncid));
}

static void redef_before_and_after_data(void) {
    int length, ioid = dealt_rows(PIO_DOUBLE, &length), extra = 0;
    file_t f = new_file("redef.nc", PIO_IOTYPE_PNETCDF, PIO_CLOBBER);
    OK(PIOc_enddef(f.ncid));
    OK(PIOc_redef(f.ncid));
    OK(PIOc_def_var(f.ncid, "early", PIO_INT, 1, &f.x, &extra));
    OK(PIOc_enddef(f.ncid));
    write_record(&f, ioid, length, 0, 1);
    OK(PIOc_redef(f.ncid));
    OK(PIOc_put_att_text(f.ncid, NC_GLOBAL, "cmeps", 3, "yes"));
    OK(PIOc_enddef(f.ncid));
    write_record(&f, ioid, length, 1, 2);
    OK(PIOc_redef(f.ncid));
    OK(PIOc_def_var(f.ncid, "late", PIO_INT, 1, &f.time, &extra));
    OK(PIOc_enddef(f.ncid));
    write_record(&f, ioid, length, 2, 3);
    const int days[] = {1, 2, 3};
    OK(PIOc_put_var_int(f.ncid, extra, days));
    OK(PIOc_closefile(f.ncid));
    for (int r = 0; r < 3; r++) expect_record("redef.nc", r, r + 1);
    if (rank != 0) return;
    int ncid, got[3];
    OK(nc_open("redef.nc", NC_NOWRITE, &ncid));
    OK(nc_get_var_int(ncid, extra, got));
    CHECK(got[0] == 1 && got[2] == 3);
    OK(nc_close(ncid));
}

/* Tests that the error of values that do not fit is returned at once, and only once. All other
 * values must be written. */
static void values_that_do_not_fit(void) {
    int ncid, x, v, w, ioid;
    const int lengths[] = {NX};
    PIO_Offset map[NX];
    int data[NX], n = 0;
    for (int i = rank; i < NX; i += ranks) {
        data[n] = i == 5 ? 70000 : i;
        map[n++] = i + 1;
    }
    OK(PIOc_InitDecomp(ios, PIO_INT, 1, lengths, n, map, &ioid, NULL, NULL, NULL));
    OK(PIOc_createfile(ios, &ncid, &pnetcdf, "range.nc", PIO_CLOBBER));
    OK(PIOc_def_dim(ncid, "x", NX, &x));
    OK(PIOc_def_var(ncid, "v", PIO_SHORT, 1, &x, &v));
    OK(PIOc_def_var(ncid, "w", PIO_BYTE, 1, &x, &w));
    const int big = 300;
    IS(PIOc_put_att_int(ncid, v, "byte", PIO_BYTE, 1, &big), NC_ERANGE);
    IS(PIOc_put_att_int(ncid, v, "text", PIO_CHAR, 1, &big), NC_ECHAR);
    OK(PIOc_enddef(ncid));
    IS(PIOc_write_darray(ncid, v, ioid, n, data, NULL), rank == 5 % ranks ? NC_ERANGE : 0);
    int all[NX] = {0};
    all[1] = 200;
    all[2] = 2;
    IS(PIOc_put_var_int(ncid, w, all), NC_ERANGE); /* the same status on all ranks */
    CHECK(PIOc_closefile(ncid) != NC_EIO);
    OK(PIOc_openfile(ios, &ncid, &pnetcdf, "range.nc", PIO_NOWRITE));
    OK(PIOc_get_var_int(ncid, v, all));
    for (int i = 0; i < NX; i++) CHECK(all[i] == (i == 5 ? NC_FILL_SHORT : i));
    OK(PIOc_get_var_int(ncid, w, all));
    CHECK(all[1] == NC_FILL_BYTE && all[2] == 2);
    signed char bytes[NX];
    IS(PIOc_get_var_schar(ncid, v, bytes), NC_ERANGE);
    OK(PIOc_closefile(ncid));
    OK(PIOc_freedecomp(ios, ioid));
}

static void attributes_of_all_types(int iotype) {
    int ncid, type, n = 0;
    char name[PIO_MAX_NAME + 1];
    PIO_Offset len = 0;
    OK(PIOc_createfile(ios, &ncid, &iotype, "atts.nc", PIO_64BIT_DATA));
    const long long big = 1LL << 40;
    const double pi[] = {3.25, -7};
    const unsigned char small = 200;
    OK(PIOc_put_att_longlong(ncid, NC_GLOBAL, "int64", PIO_INT64, 1, &big));
    OK(PIOc_put_att_double(ncid, NC_GLOBAL, "floats", PIO_FLOAT, 2, pi));
    OK(PIOc_put_att_uchar(ncid, NC_GLOBAL, "ubyte", PIO_UBYTE, 1, &small));
    OK(PIOc_put_att_text(ncid, NC_GLOBAL, "empty", 0, ""));
    OK(PIOc_put_att(ncid, NC_GLOBAL, "double", PIO_DOUBLE, 1, pi));
    OK(PIOc_rename_att(ncid, NC_GLOBAL, "double", "renamed"));
    IS(PIOc_rename_att(ncid, NC_GLOBAL, "renamed", "empty"), NC_ENAMEINUSE);
    OK(PIOc_closefile(ncid));
    OK(PIOc_openfile(ios, &ncid, &iotype, "atts.nc", PIO_NOWRITE));
    OK(PIOc_inq_natts(ncid, &n));
    IS(n, 5);
    OK(PIOc_inq_attname(ncid, NC_GLOBAL, 1, name));
    CHECK(strcmp(name, "floats") == 0);
    OK(PIOc_inq_attid(ncid, NC_GLOBAL, "renamed", &n));
    IS(n, 4);
    OK(PIOc_inq_att(ncid, NC_GLOBAL, "floats", &type, &len));
    CHECK(type == PIO_FLOAT && len == 2);
    int ints[2];
    long long got = 0;
    double one = 0;
    OK(PIOc_get_att_int(ncid, NC_GLOBAL, "floats", ints));
    CHECK(ints[0] == 3 && ints[1] == -7);
    IS(PIOc_get_att_int(ncid, NC_GLOBAL, "int64", ints), NC_ERANGE);
    OK(PIOc_get_att_longlong(ncid, NC_GLOBAL, "int64", &got));
    CHECK(got == big);
    OK(PIOc_get_att_double(ncid, NC_GLOBAL, "ubyte", &one));
    CHECK(one == 200);
    OK(PIOc_closefile(ncid));
}

/* Tests attributes whose text needs more than one message, during which the root must keep its own
 * values. */
static void many_attributes(void) {
    enum { ATTRIBUTES = 300 };
    int iotype = PIO_IOTYPE_PNETCDF, ncid, x;
    char name[16], text[64], found[64];
    static char history[20000];
    OK(PIOc_createfile(ios, &ncid, &iotype, "attributes.nc", PIO_CLOBBER));
    OK(PIOc_def_dim(ncid, "x", 4, &x));
    for (int i = 0; i < ATTRIBUTES; i++) {
        snprintf(name, sizeof name, "a%d", i);
        snprintf(text, sizeof text, "the text of the attribute with the number %d", i);
        OK(PIOc_put_att_text(ncid, NC_GLOBAL, name, strlen(text) + 1, text));
    }
    memset(history, 'h', sizeof history - 1);
    OK(PIOc_put_att_text(ncid, NC_GLOBAL, "history", strlen(history), history));
    OK(PIOc_enddef(ncid));
    OK(PIOc_closefile(ncid));
    OK(PIOc_openfile(ios, &ncid, &iotype, "attributes.nc", PIO_NOWRITE));
    for (int i = 0; i < ATTRIBUTES; i++) {
        snprintf(name, sizeof name, "a%d", i);
        snprintf(text, sizeof text, "the text of the attribute with the number %d", i);
        OK(PIOc_get_att_text(ncid, NC_GLOBAL, name, found));
        CHECK(strcmp(found, text) == 0);
    }
    static char read[20000];
    OK(PIOc_get_att_text(ncid, NC_GLOBAL, "history", read));
    CHECK(memcmp(read, history, sizeof history) == 0);
    OK(PIOc_closefile(ncid));
}

/* Sizes beyond the limits of CDF-1 are an error at the end of define mode. */
static void too_large(void) {
    int ncid, x, v;
    OK(PIOc_createfile(ios, &ncid, &pnetcdf, "large.nc", PIO_CLOBBER));
    OK(PIOc_def_dim(ncid, "x", 1 << 29, &x));
    OK(PIOc_def_var(ncid, "a", PIO_DOUBLE, 1, &x, &v));
    OK(PIOc_def_var(ncid, "b", PIO_DOUBLE, 1, &x, &v));
    IS(PIOc_enddef(ncid), NC_EVARSIZE);
    IS(PIOc_closefile(ncid), NC_EVARSIZE);
}

/* Tests that the end of an iosystem closes its files. */
static void forgotten_files(void) {
    const int mine = ios;
    int length;
    OK(PIOc_Init_Intracomm(world, 1, 1, ranks - 1, PIO_REARR_BOX, &ios));
    int ioid = dealt_rows(PIO_DOUBLE, &length);
    file_t f = new_file("forgotten.nc", PIO_IOTYPE_PNETCDF, PIO_CLOBBER);
    OK(PIOc_enddef(f.ncid));
    write_record(&f, ioid, length, 0, 3);
    OK(PIOc_finalize(ios));
    IS(PIOc_File_is_Open(f.ncid), 0);
    ios = mine;
    expect_record("forgotten.nc", 0, 3);
}

static void sections(int iotype) {
    file_t f = new_file("sections.nc", iotype, PIO_CLOBBER);
    int text, date;
    OK(PIOc_def_dim(f.ncid, "chars", 8, &text));
    const int dims[] = {f.time, text};
    OK(PIOc_def_var(f.ncid, "date", PIO_CHAR, 2, dims, &date));
    OK(PIOc_enddef(f.ncid));
    double data[2 * NY * NX], got[2 * NY * NX];
    for (int i = 0; i < 2 * NY * NX; i++) data[i] = i;
    const PIO_Offset start[] = {0, 0, 0}, count[] = {2, NY, NX};
    OK(PIOc_put_vara_double(f.ncid, f.v, start, count, data));
    const PIO_Offset row[] = {1, 0}, chars[] = {1, 8};
    OK(PIOc_put_vara_text(f.ncid, date, row, chars, "01/02/03"));
    const PIO_Offset point[] = {1, 2, 3};
    const float special = 0.5F;
    OK(PIOc_put_var1_float(f.ncid, f.v, point, &special));
    data[NY * NX + 2 * NX + 3] = 0.5;
    const PIO_Offset from[] = {0, 1, 1}, n[] = {2, 2, 4}, step[] = {1, 2, 3};
    const double ones[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    OK(PIOc_put_vars_double(f.ncid, f.v, from, n, step, ones));
    for (int t = 0; t < 2; t++)
        for (int j = 1; j < 4; j += 2)
            for (int i = 1; i < 11; i += 3) data[(t * NY + j) * NX + i] = 1;
    OK(PIOc_get_var_double(f.ncid, f.v, got));
    CHECK(memcmp(data, got, sizeof data) == 0);
    double some[16];
    OK(PIOc_get_vars_double(f.ncid, f.v, from, n, step, some));
    CHECK(memcmp(some, ones, sizeof some) == 0);
    char string[9] = "";
    OK(PIOc_get_vara_text(f.ncid, date, row, chars, string));
    CHECK(strcmp(string, "01/02/03") == 0);
    OK(PIOc_closefile(f.ncid));
}

/* Tests that names are stored in Unicode's normal form C and found by every spelling, as in
 * netCDF. */
static void names_may_be_spelt_otherwise(int iotype) {
    const char *one = "\xc3\xa9t", *two = "e\xcc\x81t";
    int ncid, dim, var, found, value[3] = {1, 2, 3}, got[3] = {0};
    char name[NC_MAX_NAME + 1];
    OK(PIOc_createfile(ios, &ncid, &iotype, "spelt.nc", PIO_CLOBBER));
    OK(PIOc_def_dim(ncid, two, 3, &dim));
    IS(PIOc_def_dim(ncid, one, 3, &found), NC_ENAMEINUSE);
    OK(PIOc_def_var(ncid, two, PIO_INT, 1, &dim, &var));
    IS(PIOc_def_var(ncid, one, PIO_INT, 1, &dim, &found), NC_ENAMEINUSE);
    OK(PIOc_put_att_text(ncid, var, two, 1, "a"));
    OK(PIOc_inq_attid(ncid, var, one, &found));
    OK(PIOc_enddef(ncid));
    OK(PIOc_put_var_int(ncid, var, value));
    OK(PIOc_closefile(ncid));
    OK(PIOc_openfile(ios, &ncid, &iotype, "spelt.nc", PIO_NOWRITE));
    for (int i = 0; i < 2; i++) {
        OK(PIOc_inq_dimid(ncid, i ? one : two, &dim));
        OK(PIOc_inq_varid(ncid, i ? one : two, &var));
        OK(PIOc_inq_attid(ncid, var, i ? one : two, &found));
    }
    OK(PIOc_inq_varname(ncid, var, name));
    CHECK(strcmp(name, one) == 0);
    OK(PIOc_get_var_int(ncid, var, got));
    CHECK(memcmp(got, value, sizeof got) == 0);
    OK(PIOc_closefile(ncid));
}

static void iosystems_come_and_go(void) {
    for (int i = 0; i < 20; i++) {
        int id = 0, n = 0, r = -2;
        OK(PIOc_Init_Intracomm(world, ranks, 1, 0, PIO_REARR_BOX, &id));
        OK(PIOc_get_numiotasks(id, &n));
        OK(PIOc_iotask_rank(id, &r));
        CHECK(n == ranks && r == rank);
        OK(PIOc_finalize(id));
        OK(PIOc_set_iosystem_error_handling(PIO_DEFAULT, PIO_RETURN_ERROR, NULL));
        IS(PIOc_finalize(id), NC_EBADID);
    }
    int id = 0;
    IS(PIOc_Init_Intracomm(world, 0, 1, 0, PIO_REARR_BOX, &id), NC_EINVAL);
    IS(PIOc_Init_Intracomm(world, 1, 1, ranks, PIO_REARR_BOX, &id), NC_EINVAL);
    OK(PIOc_Init_Intracomm(world, 1, 4, ranks - 1, PIO_REARR_SUBSET, &id));
    OK(PIOc_finalize(id));
}

int main(int argc, char** argv) {
    if (!begin_system(argc, argv, 1, &ios)) return failures == 0 ? 0 : 1;
    codes_are_those_of_netcdf();
    handlers_belong_to_the_iosystem();
    section_of_the_root(pnetcdf, "section.nc", 0);
    section_of_the_root(netcdf4, "section4.nc", 0);
    section_of_the_root(netcdf4, "packed.nc", 1);
    wrong_section_on_one_rank();
    redef_before_and_after_data();
    values_that_do_not_fit();
    attributes_of_all_types(PIO_IOTYPE_PNETCDF);
    attributes_of_all_types(PIO_IOTYPE_NETCDF4C);
    many_attributes();
    too_large();
    forgotten_files();
    sections(PIO_IOTYPE_PNETCDF);
    sections(PIO_IOTYPE_NETCDF4P);
    names_may_be_spelt_otherwise(PIO_IOTYPE_PNETCDF);
    names_may_be_spelt_otherwise(PIO_IOTYPE_NETCDF4C);
    iosystems_come_and_go();
    OK(PIOc_finalize(ios));
    MPI_Finalize();
    return failures == 0 ? 0 : 1;
}
