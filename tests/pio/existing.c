/* Tests continuing netCDF-4 files of other programs: records, variables and attributes are added,
 * and everything else stays. Until the file is closed, its path leads to the old file.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "system.h"

#define NX 10
#define NY 6

static int ios, netcdf4 = PIO_IOTYPE_NETCDF4P;

enum { plain, classic_model, compressed, long_chunks, big_endian, two_unlimited, kinds };
static const char* const paths[kinds] = {"plain.nc",  "classic_model.nc", "compressed.nc",
                                         "chunks.nc", "big.nc",           "unlimited.nc"};

/* On the first rank, makes a file by netCDF-C, with three records of T, and with objects for which
 * PIO has no names.
 */
static void make(int kind) {
    int ncid, dims[3], T, time, more, group, text, id;
    float data[NY * NX], fill = -9;
    OK(nc_create(paths[kind], NC_NETCDF4 | (kind == classic_model ? NC_CLASSIC_MODEL : 0), &ncid));
    OK(nc_def_dim(ncid, "time", NC_UNLIMITED, &dims[0]));
    OK(nc_def_dim(ncid, "y", NY, &dims[1]));
    OK(nc_def_dim(ncid, "x", NX, &dims[2]));
    OK(nc_def_var(ncid, "time", NC_DOUBLE, 1, dims, &time));
    OK(nc_def_var(ncid, "T", NC_FLOAT, 3, dims, &T));
    OK(nc_put_att_float(ncid, T, "_FillValue", NC_FLOAT, 1, &fill));
    OK(nc_put_att_text(ncid, NC_GLOBAL, "title", 3, "old"));
    const size_t chunks[] = {4, 3, 5};
    if (kind == compressed) {
        OK(nc_def_var_deflate(ncid, T, 1, 1, 5));
        OK(nc_def_var_fletcher32(ncid, T, NC_FLETCHER32));
    }
    if (kind == long_chunks) OK(nc_def_var_chunking(ncid, T, NC_CHUNKED, chunks));
    if (kind == big_endian) OK(nc_def_var_endian(ncid, T, NC_ENDIAN_BIG));
    if (kind == two_unlimited) {
        OK(nc_def_dim(ncid, "more", NC_UNLIMITED, &more));
        OK(nc_def_var(ncid, "M", NC_INT, 1, &more, &id));
    }
    if (kind == plain) {
        OK(nc_def_var(ncid, "text", NC_STRING, 1, &dims[1], &text));
        OK(nc_def_grp(ncid, "inner", &group));
        OK(nc_def_var(group, "in", NC_INT, 1, &dims[2], &id));
    }
    OK(nc_enddef(ncid));
    for (size_t r = 0; r < 3; r++) {
        const size_t start[] = {r, 0, 0}, count[] = {1, NY, NX};
        const double t = (double)r;
        for (int i = 0; i < NY * NX; i++) data[i] = (float)(100 * (int)r + i);
        OK(nc_put_vara_float(ncid, T, start, count, data));
        OK(nc_put_var1_double(ncid, time, &r, &t));
    }
    if (kind == plain) {
        const size_t second = 1;
        const char* const word = "word";
        const int seven[NX] = {7, 7, 7, 7, 7, 7, 7, 7, 7, 7};
        OK(nc_put_var1_string(ncid, text, &second, (const char**)&word));
        OK(nc_put_var_int(group, id, seven));
    }
    OK(nc_close(ncid));
}

static void continue_file(int kind) {
    const int lengths[] = {NY, NX};
    int ncid, dims[3], T, time, late, ioid, n = 0, old_id, unlimited = 0;
    PIO_Offset map[NY * NX], records = 0, at = 3;
    float data[NY * NX], got[NY * NX];
    const double t = 3;
    for (int i = rank; i < NY * NX; i += ranks) map[n++] = i;
    OK(PIOc_init_decomp(ios, PIO_FLOAT, 2, lengths, n, map, &ioid, PIO_REARR_BOX, NULL, NULL));
    OK(PIOc_openfile(ios, &ncid, &netcdf4, paths[kind], PIO_WRITE));
    OK(PIOc_inq_dimid(ncid, "time", &dims[0]));
    OK(PIOc_inq_dimid(ncid, "y", &dims[1]));
    OK(PIOc_inq_dimid(ncid, "x", &dims[2]));
    OK(PIOc_inq_dimlen(ncid, dims[0], &records));
    CHECK(records == 3);
    OK(PIOc_inq_varid(ncid, "T", &T));
    OK(PIOc_inq_varid(ncid, "time", &time));
    for (int i = 0; i < n; i++) data[i] = (float)(300 + map[i]);
    OK(PIOc_setframe(ncid, T, 3));
    OK(PIOc_write_darray(ncid, T, ioid, n, data, NULL));
    OK(PIOc_put_var1_double(ncid, time, &at, &t));
    /* Reads through the same handle, and then continues the file. */
    OK(PIOc_setframe(ncid, T, 1));
    OK(PIOc_read_darray(ncid, T, ioid, n, got));
    for (int i = 0; i < n; i++) CHECK(got[i] == (float)(100 + map[i]));
    OK(PIOc_redef(ncid));
    OK(PIOc_def_var(ncid, "late", PIO_DOUBLE, 3, dims, &late));
    OK(PIOc_def_var_deflate(ncid, late, 1, 1, 2));
    OK(PIOc_put_att_text(ncid, NC_GLOBAL, "title", 9, "continued"));
    OK(PIOc_enddef(ncid));
    for (int i = 0; i < n; i++) data[i] = (float)(400 + map[i]);
    OK(PIOc_setframe(ncid, T, 4));
    OK(PIOc_setframe(ncid, late, 4));
    OK(PIOc_write_darray(ncid, T, ioid, n, data, NULL));
    OK(PIOc_write_darray(ncid, late, ioid, n, data, NULL));
    OK(PIOc_sync(ncid));
    OK(PIOc_inq_dimlen(ncid, dims[0], &records));
    CHECK(records == 5);
    /* Until the close, the path still has the old file, and no other handle can continue it. */
    if (rank == 0) {
        size_t length = 0;
        OK(nc_open(paths[kind], NC_NOWRITE, &old_id));
        OK(nc_inq_unlimdim(old_id, &unlimited));
        OK(nc_inq_dimlen(old_id, 0, &length));
        CHECK(length == 3);
        OK(nc_close(old_id));
    }
    int other, v;
    const double one = 1;
    OK(PIOc_openfile(ios, &other, &netcdf4, paths[kind], PIO_WRITE));
    OK(PIOc_inq_varid(other, "time", &v));
    IS(PIOc_put_var1_double(other, v, &at, &one), NC_EPERM);
    OK(PIOc_closefile(other));
    OK(PIOc_closefile(ncid));
    OK(PIOc_freedecomp(ios, ioid));
}

static void expect(int kind) {
    int ncid, id, group, shuffle, deflate, level, layout, fletcher, endian;
    size_t length = 0, chunks[3];
    float data[NY * NX];
    char title[10] = "";
    OK(nc_open(paths[kind], NC_NOWRITE, &ncid));
    OK(nc_inq_dimlen(ncid, 0, &length));
    CHECK(length == 5);
    OK(nc_inq_varid(ncid, "T", &id));
    for (size_t r = 0; r < 5; r++) {
        const size_t start[] = {r, 0, 0}, count[] = {1, NY, NX};
        int wrong = 0;
        OK(nc_get_vara_float(ncid, id, start, count, data));
        for (int i = 0; i < NY * NX; i++) wrong += data[i] != (float)(100 * (int)r + i);
        IS(wrong, 0);
    }
    OK(nc_inq_var_deflate(ncid, id, &shuffle, &deflate, &level));
    OK(nc_inq_var_chunking(ncid, id, &layout, chunks));
    OK(nc_inq_var_fletcher32(ncid, id, &fletcher));
    OK(nc_inq_var_endian(ncid, id, &endian));
    CHECK(deflate == (kind == compressed) && fletcher == (kind == compressed));
    CHECK(chunks[0] == (kind == long_chunks ? 4 : 1));
    CHECK((endian == NC_ENDIAN_BIG) == (kind == big_endian));
    OK(nc_inq_varid(ncid, "late", &id));
    for (size_t r = 0; r < 5; r += 4) {
        const size_t start[] = {r, 0, 0}, count[] = {1, NY, NX};
        OK(nc_get_vara_float(ncid, id, start, count, data));
        CHECK(r == 4 ? data[7] == 407 : data[7] == NC_FILL_FLOAT);
    }
    OK(nc_inq_var_deflate(ncid, id, &shuffle, &deflate, &level));
    CHECK(shuffle == 1 && deflate == 1 && level == 2);
    OK(nc_get_att_text(ncid, NC_GLOBAL, "title", title));
    CHECK(memcmp(title, "continued", 9) == 0);
    if (kind == plain) {
        const size_t second = 1;
        char* word = NULL;
        int in[NX];
        OK(nc_inq_varid(ncid, "text", &id));
        OK(nc_get_var1_string(ncid, id, &second, &word));
        CHECK(strcmp(word, "word") == 0);
        OK(nc_free_string(1, &word));
        OK(nc_inq_grp_ncid(ncid, "inner", &group));
        OK(nc_inq_varid(group, "in", &id));
        OK(nc_get_var_int(group, id, in));
        CHECK(in[NX - 1] == 7);
    }
    OK(nc_close(ncid));
}

/* Tests an array that is too short on one rank: its elements in the file must stay as they are, and
 * the other ranks must get the error.
 */
static void short_array(void) {
    const int lengths[] = {NY, NX}, last = ranks - 1;
    int ncid, T, ioid, n = 0;
    PIO_Offset map[NY * NX];
    float data[NY * NX], got[NY * NX];
    for (int i = rank; i < NY * NX; i += ranks) map[n++] = i;
    if (rank == 0) make(plain);
    MPI_Barrier(world);
    OK(PIOc_init_decomp(ios, PIO_FLOAT, 2, lengths, n, map, &ioid, PIO_REARR_BOX, NULL, NULL));
    OK(PIOc_openfile(ios, &ncid, &netcdf4, paths[plain], PIO_WRITE));
    OK(PIOc_inq_varid(ncid, "T", &T));
    for (int i = 0; i < n; i++) data[i] = (float)(500 + map[i]);
    for (int r = 1; r <= 3; r += 2) { /* records 1 (existing) and 3 (new) */
        OK(PIOc_setframe(ncid, T, r));
        IS(PIOc_write_darray(ncid, T, ioid, rank == last ? n - 1 : n, data, NULL),
           rank == last ? NC_EINVAL : 0);
        IS(PIOc_sync(ncid), ranks > 1 ? NC_EINVAL : 0);
        OK(PIOc_sync(ncid));
    }
    OK(PIOc_closefile(ncid));
    MPI_Barrier(world);
    for (int r = 1; r <= 3; r += 2) {
        const size_t start[] = {(size_t)r, 0, 0}, count[] = {1, NY, NX};
        const float before = r == 1 ? 100 : -9;
        OK(nc_open(paths[plain], NC_NOWRITE, &ncid));
        OK(nc_get_vara_float(ncid, T, start, count, got));
        OK(nc_close(ncid));
        for (int i = 0; i < NY * NX; i++)
            CHECK(got[i] == (i % ranks != last ? (float)(500 + i)
                             : r == 1          ? before + (float)i
                                               : before));
    }
    OK(PIOc_freedecomp(ios, ioid));
    MPI_Barrier(world);
}

/* Tests that the file does not change if netCDF-C cannot rename a variable and its dimension
 * together. */
static void rename_dimension(void) {
    int ncid, d, v, w, values[NX], got[NX];
    for (int i = 0; i < NX; i++) values[i] = 3 * i;
    OK(PIOc_createfile(ios, &ncid, &netcdf4, "renamed.nc", PIO_CLOBBER));
    OK(PIOc_def_dim(ncid, "x", NX, &d));
    OK(PIOc_def_var(ncid, "v", PIO_INT, 1, &d, &v));
    OK(PIOc_def_var(ncid, "w", PIO_INT, 1, &d, &w));
    OK(PIOc_enddef(ncid));
    OK(PIOc_put_var_int(ncid, v, values));
    OK(PIOc_closefile(ncid));
    for (int put = 0; put < 2; put++) {
        OK(PIOc_openfile(ios, &ncid, &netcdf4, "renamed.nc", PIO_WRITE));
        if (put) OK(PIOc_put_var_int(ncid, w, values));
        OK(PIOc_redef(ncid));
        OK(PIOc_rename_var(ncid, w, put ? "www" : "ww"));
        OK(PIOc_rename_dim(ncid, d, put ? "xxx" : "xx"));
        const int ended = PIOc_enddef(ncid);
        OK(PIOc_closefile(ncid));
        MPI_Barrier(world);
        if (rank > 0) continue;
        char name[NC_MAX_NAME + 1];
        OK(nc_open("renamed.nc", NC_NOWRITE, &ncid));
        OK(nc_inq_dimname(ncid, 0, name));
        CHECK((strlen(name) == 1) == (ended != 0));
        OK(nc_get_var_int(ncid, v, got));
        CHECK(memcmp(got, values, sizeof got) == 0);
        OK(nc_get_var_int(ncid, w, got));
        CHECK(got[5] == (put ? values[5] : NC_FILL_INT));
        OK(nc_close(ncid));
    }
}

/* Tests that the file does not change if no copy can be made in its folder. */
static void no_room(void) {
    int ncid, T;
    const float zero = 0;
    const PIO_Offset at[] = {0, 0, 0};
    if (geteuid() == 0) return; /* root may write to any folder */
    if (rank == 0) {
        mkdir("closed", 0755);
        unlink("closed/plain.nc");
        OK(rename("plain.nc", "closed/plain.nc"));
        OK(chmod("closed", 0555));
    }
    MPI_Barrier(world);
    OK(PIOc_openfile(ios, &ncid, &netcdf4, "closed/plain.nc", PIO_WRITE));
    OK(PIOc_inq_varid(ncid, "T", &T));
    CHECK(PIOc_put_var1_float(ncid, T, at, &zero) != 0);
    OK(PIOc_closefile(ncid));
    MPI_Barrier(world);
    if (rank == 0) OK(chmod("closed", 0755));
}

int main(int argc, char** argv) {
    if (!begin_system(argc, argv, 0, &ios)) return failures == 0 ? 0 : 1;
    for (int kind = 0; kind < kinds; kind++) {
        if (rank == 0) make(kind);
        MPI_Barrier(world);
        continue_file(kind);
        MPI_Barrier(world);
        if (rank == 0) expect(kind);
    }
    short_array();
    rename_dimension();
    no_room();
    OK(PIOc_finalize(ios));
    MPI_Finalize();
    return failures == 0 ? 0 : 1;
}
