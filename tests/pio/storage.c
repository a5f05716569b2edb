/* Tests the storage of netCDF-4 files: chunks, filters and quantization set at any time in define
 * mode, the results of inquiries before and after, and the storage that netCDF-C finds. Files that
 * the library writes are NAME.part meanwhile, those that one rank writes NAME.new.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <unistd.h>

#include "system.h"

#define NX 12
#define NY 9

static int ios, netcdf4 = PIO_IOTYPE_NETCDF4P;

typedef struct {
    int shuffle, deflate, level, layout;
    PIO_Offset chunks[3];
} kept_t;

/* Writes a record. Element i of record r is 100 * r + i. */
static void write_record(int ncid, int v, int r) {
    const int dims[] = {NY, NX};
    PIO_Offset map[NX * NY];
    double data[NX * NY];
    int ioid, n = 0;
    for (int i = rank; i < NX * NY; i += ranks) {
        data[n] = 100 * r + i;
        map[n++] = i;
    }
    OK(PIOc_init_decomp(ios, PIO_DOUBLE, 2, dims, n, map, &ioid, PIO_REARR_BOX, NULL, NULL));
    OK(PIOc_setframe(ncid, v, r));
    OK(PIOc_write_darray(ncid, v, ioid, n, data, NULL));
    OK(PIOc_freedecomp(ios, ioid));
}

static void expect_records(const char* path, const char* name, int records) {
    MPI_Barrier(world);
    if (rank != 0) return;
    int ncid, v;
    double got[NX * NY];
    OK(nc_open(path, NC_NOWRITE, &ncid));
    OK(nc_inq_varid(ncid, name, &v));
    for (int r = 0; r < records; r++) {
        const size_t start[] = {(size_t)r, 0, 0}, count[] = {1, NY, NX};
        int wrong = 0;
        OK(nc_get_vara_double(ncid, v, start, count, got));
        for (int i = 0; i < NX * NY; i++) wrong += got[i] != 100 * r + i;
        IS(wrong, 0);
    }
    OK(nc_close(ncid));
}

static int new_file(const char* path, int mode, int* dims) {
    int ncid = -1;
    OK(PIOc_createfile(ios, &ncid, &netcdf4, path, mode));
    OK(PIOc_def_dim(ncid, "time", PIO_UNLIMITED, &dims[0]));
    OK(PIOc_def_dim(ncid, "y", NY, &dims[1]));
    OK(PIOc_def_dim(ncid, "x", NX, &dims[2]));
    return ncid;
}

static kept_t kept(int ncid, int v) {
    kept_t k;
    memset(&k, 0, sizeof k);
    OK(PIOc_inq_var_deflate(ncid, v, &k.shuffle, &k.deflate, &k.level));
    OK(PIOc_inq_var_chunking(ncid, v, &k.layout, k.chunks));
    return k;
}

static int same(const kept_t* k, int shuffle, int deflate, int level, int layout, int y, int x) {
    return k->shuffle == shuffle && k->deflate == deflate && k->level == level &&
           k->layout == layout &&
           (layout == NC_CONTIGUOUS || (k->chunks[1] == y && k->chunks[2] == x));
}

/* Compares the inquired storage while the file is written with the storage that netCDF-C finds in
 * the file. */
static void expect_in_file(const char* path, const char* name, const kept_t* told) {
    MPI_Barrier(world);
    int ncid, v, shuffle, deflate, level, layout, nd;
    size_t chunks[3] = {0, 0, 0};
    OK(nc_open(path, NC_NOWRITE, &ncid));
    OK(nc_inq_varid(ncid, name, &v));
    OK(nc_inq_varndims(ncid, v, &nd));
    OK(nc_inq_var_deflate(ncid, v, &shuffle, &deflate, &level));
    OK(nc_inq_var_chunking(ncid, v, &layout, chunks));
    CHECK(told->shuffle == shuffle && told->deflate == deflate && told->level == level &&
          told->layout == layout);
    for (int d = 0; layout == NC_CHUNKED && d < nd; d++)
        CHECK(told->chunks[d] == (PIO_Offset)chunks[d]);
    OK(nc_close(ncid));
    MPI_Barrier(world);
}

/* Tests files with filters, which all writers of the library write. */
static void filtered(int mode, const char* path, const char* part) {
    int dims[3], v, w, plain, shuffled;
    const int ncid = new_file(path, mode, dims);
    const PIO_Offset chunks[] = {1, 4, 5}, others[] = {1, NY, NX};
    OK(PIOc_def_var(ncid, "v", PIO_DOUBLE, 3, dims, &v));
    OK(PIOc_def_var_chunking(ncid, v, NC_CHUNKED, others));
    OK(PIOc_def_var_deflate(ncid, v, 0, 1, 9));
    OK(PIOc_def_var_deflate(ncid, v, 1, 1, 4)); /* the last setting counts */
    OK(PIOc_def_var_chunking(ncid, v, NC_CHUNKED, chunks));
    OK(PIOc_def_var(ncid, "w", PIO_DOUBLE, 3, dims, &w));
    OK(PIOc_def_var(ncid, "plain", PIO_INT, 2, dims + 1, &plain));
    OK(PIOc_def_var(ncid, "shuffled", PIO_INT, 2, dims + 1, &shuffled));
    OK(PIOc_def_var_deflate(ncid, shuffled, 1, 0, 0));
    OK(PIOc_def_var_zstandard(ncid, w, 2));
    kept_t k = kept(ncid, v);
    CHECK(same(&k, 1, 1, 4, NC_CHUNKED, 4, 5));
    OK(PIOc_enddef(ncid));
    for (int r = 2; r >= 0; r--) write_record(ncid, v, r);
    kept_t told[4] = {kept(ncid, v), kept(ncid, w), kept(ncid, plain), kept(ncid, shuffled)};
    CHECK(same(&told[0], 1, 1, 4, NC_CHUNKED, 4, 5));
    CHECK(same(&told[2], 0, 0, 0, NC_CONTIGUOUS, 0, 0));
    CHECK(told[3].shuffle == 1 && told[3].deflate == 0);
    int has = 0, level = 0;
    OK(PIOc_inq_var_zstandard(ncid, w, &has, &level));
    CHECK(has == 1 && level == 2);
    for (int r = 0; r < 3; r++) write_record(ncid, w, r);
    OK(PIOc_sync(ncid));
    CHECK(access(part, F_OK) == 0);
    OK(PIOc_closefile(ncid));
    expect_records(path, "v", 3);
    expect_in_file(path, "v", &told[0]);
    expect_in_file(path, "w", &told[1]);
    expect_in_file(path, "plain", &told[2]);
    expect_in_file(path, "shuffled", &told[3]);
}

/* Tests chunk lengths of 0, which let the library choose; along the record dimension it chooses 1.
 */
static void chosen_chunks(const char* path, int record_chunk) {
    static const PIO_Offset asked[][3] = {{0, 0, 0}, {0, 2, 0}, {0, 0, 3}, {1, 0, 0}};
    enum { N = sizeof asked / sizeof asked[0] };
    int dims[3], v[N], storage = 0;
    char name[] = "v0";
    const int ncid = new_file(path, PIO_CLOBBER, dims);
    PIO_Offset chunks[3];
    for (int i = 0; i < N; i++, name[1]++) {
        OK(PIOc_def_var(ncid, name, PIO_INT, 3, dims, &v[i]));
        memcpy(chunks, asked[i], sizeof chunks);
        if (i == N - 1) chunks[0] = record_chunk;
        OK(PIOc_def_var_chunking(ncid, v[i], NC_CHUNKED, chunks));
    }
    for (int ended = 0; ended < 2; ended++) {
        for (int i = 0; i < N; i++) {
            OK(PIOc_inq_var_chunking(ncid, v[i], &storage, chunks));
            IS(storage, NC_CHUNKED);
            CHECK(chunks[0] == (i == N - 1 ? record_chunk : 1));
            CHECK(chunks[1] == (asked[i][1] > 0 ? asked[i][1] : NY));
            CHECK(chunks[2] == (asked[i][2] > 0 ? asked[i][2] : NX));
        }
        if (ended) break;
        OK(PIOc_enddef(ncid));
        write_record(ncid, v[1], 0);
    }
    OK(PIOc_closefile(ncid));
    expect_records(path, "v1", 1);
}

static void wrong_storage(void) {
    int dims[3], v, f;
    const int ncid = new_file("wrong.nc", PIO_CLOBBER, dims);
    const PIO_Offset long_one[] = {1, NY + 1, 1}, negative[] = {1, -1, 1};
    OK(PIOc_def_var(ncid, "v", PIO_INT, 3, dims, &v));
    OK(PIOc_def_var(ncid, "f", PIO_FLOAT, 2, dims + 1, &f));
    IS(PIOc_def_var_chunking(ncid, v, NC_CONTIGUOUS, NULL), NC_EINVAL);
    IS(PIOc_def_var_chunking(ncid, v, NC_CHUNKED, long_one), NC_EBADCHUNK);
    IS(PIOc_def_var_chunking(ncid, v, NC_CHUNKED, negative), NC_ERANGE);
    IS(PIOc_def_var_deflate(ncid, v, 0, 1, 10), NC_EINVAL);
    IS(PIOc_def_var_quantize(ncid, v, 1, 3), NC_EINVAL); /* fails, as the variable has integers */
    IS(PIOc_def_var_quantize(ncid, f, 1, 8), NC_EINVAL);
    IS(PIOc_def_var_quantize(ncid, f, 3, 0), NC_EINVAL);
    IS(PIOc_def_var_zstandard(ncid, f, 23), NC_EINVAL);
    OK(PIOc_def_var_deflate(ncid, f, 0, 1, 1));
    IS(PIOc_def_var_chunking(ncid, f, NC_CONTIGUOUS, NULL), NC_EINVAL);
    OK(PIOc_def_var_quantize(ncid, f, 1, 3));
    OK(PIOc_enddef(ncid));
    write_record(ncid, v, 0);
    IS(PIOc_def_var_deflate(ncid, v, 0, 1, 1), NC_ELATEDEF);
    int mode = 0, digits = 0;
    OK(PIOc_inq_var_quantize(ncid, f, &mode, &digits));
    CHECK(mode == 1 && digits == 3);
    OK(PIOc_closefile(ncid));
    int id, iotype = PIO_IOTYPE_NETCDF;
    OK(PIOc_openfile(ios, &id, &iotype, "wrong.nc", PIO_NOWRITE));
    OK(PIOc_inq_var_quantize(id, f, &mode, &digits));
    CHECK(mode == 1 && digits == 3);
    OK(PIOc_closefile(id));
}

/* Tests storage that the library cannot write, so that one rank writes the files. The values must
 * be the same. */
static void by_one_rank(void) {
    int dims[4], v, big, last;
    const int ncid = new_file("one_rank.nc", PIO_CLOBBER, dims);
    const PIO_Offset chunks[] = {2, NY, NX};
    OK(PIOc_def_dim(ncid, "more", PIO_UNLIMITED, &dims[3]));
    OK(PIOc_def_var(ncid, "v", PIO_DOUBLE, 3, dims, &v));
    OK(PIOc_def_var_chunking(ncid, v, NC_CHUNKED, chunks));
    OK(PIOc_def_var(ncid, "big", PIO_INT, 3, dims, &big));
    OK(PIOc_def_var_endian(ncid, big, NC_ENDIAN_BIG));
    OK(PIOc_def_var(ncid, "last", PIO_INT, 2, dims + 2, &last));
    OK(PIOc_enddef(ncid));
    for (int r = 2; r >= 0; r--) {
        write_record(ncid, v, r);
        write_record(ncid, big, r);
    }
    CHECK(access("one_rank.nc.new", F_OK) == 0);
    const PIO_Offset start[] = {0, 0}, count[] = {NX, 2};
    int values[2 * NX], got[2 * NX];
    for (int i = 0; i < 2 * NX; i++) values[i] = i;
    OK(PIOc_put_vara_int(ncid, last, start, count, values));
    OK(PIOc_get_vara_int(ncid, last, start, count, got));
    CHECK(memcmp(got, values, sizeof got) == 0);
    write_record(ncid, big, 3); /* puts after a read */
    write_record(ncid, v, 3);
    const kept_t k = kept(ncid, v);
    CHECK(k.layout == NC_CHUNKED && k.chunks[0] == 2);
    OK(PIOc_closefile(ncid));
    CHECK(access("one_rank.nc.new", F_OK) != 0);
    expect_records("one_rank.nc", "v", 4);
    expect_records("one_rank.nc", "big", 4);
}

static void repeated_dimension(int iotype, const char* path) {
    int ncid, y, v, ioid, n = 0;
    const int lengths[] = {NY, NY};
    PIO_Offset map[NY * NY];
    double data[NY * NY], got[NY * NY];
    for (int i = (rank * 5) % NY; i < NY * NY; i++)
        if (i % ranks == rank) map[n++] = i;
    for (int i = 0; i < (rank * 5) % NY; i++)
        if (i % ranks == rank) map[n++] = i;
    for (int i = 0; i < n; i++) data[i] = (double)map[i];
    OK(PIOc_createfile(ios, &ncid, &iotype, path, PIO_CLOBBER));
    OK(PIOc_def_dim(ncid, "y", NY, &y));
    const int dims[] = {y, y};
    OK(PIOc_def_var(ncid, "covariance", PIO_DOUBLE, 2, dims, &v));
    OK(PIOc_enddef(ncid));
    OK(PIOc_init_decomp(ios, PIO_DOUBLE, 2, lengths, n, map, &ioid, PIO_REARR_BOX, NULL, NULL));
    OK(PIOc_write_darray(ncid, v, ioid, n, data, NULL));
    OK(PIOc_get_var_double(ncid, v, got));
    for (int i = 0; i < NY * NY; i++) CHECK(got[i] == i);
    OK(PIOc_closefile(ncid));
    OK(PIOc_freedecomp(ios, ioid));
}

int main(int argc, char** argv) {
    if (!begin_system(argc, argv, 1, &ios)) return failures == 0 ? 0 : 1;
    filtered(PIO_CLOBBER, "filtered.nc", "filtered.nc.part");
    filtered(NC_CLASSIC_MODEL, "filtered_classic.nc", "filtered_classic.nc.part");
    chosen_chunks("chosen.nc", 1);
    chosen_chunks("longer.nc", 2);
    wrong_storage();
    by_one_rank();
    repeated_dimension(PIO_IOTYPE_PNETCDF, "repeated.nc");
    repeated_dimension(PIO_IOTYPE_NETCDF4C, "repeated4.nc");
    OK(PIOc_finalize(ios));
    MPI_Finalize();
    return failures == 0 ? 0 : 1;
}
