/* Tests reading variables that are not completely written, through the handle that writes them:
 * reads must return the data that were put, and the fill value elsewhere.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "system.h"

enum { K = 3, NX = 24, FILL = -2 };

static int ios;

typedef struct {
    int ncid, holes, frames, section, strided, never, own_fill, text, scalar, chunked, records;
} file_t;

/* Ways to store the file: by the library, by the library with filters, or by one rank with
 * netCDF-C. */
enum { plain, deflated, serial };

static file_t new_file(const char* path, int iotype, int kind) {
    file_t f;
    int t, k, x, second;
    const int fill = FILL;
    OK(PIOc_createfile(ios, &f.ncid, &iotype, path, PIO_CLOBBER));
    OK(PIOc_def_dim(f.ncid, "t", PIO_UNLIMITED, &t));
    OK(PIOc_def_dim(f.ncid, "k", K, &k));
    if (kind == serial) OK(PIOc_def_dim(f.ncid, "second", PIO_UNLIMITED, &second));
    OK(PIOc_def_dim(f.ncid, "x", NX, &x));
    const int kx[] = {k, x}, tx[] = {t, x};
    int* const all[] = {&f.holes, &f.frames, &f.section, &f.strided, &f.never};
    const char* const names[] = {"holes", "frames", "section", "strided", "never"};
    for (int v = 0; v < 5; v++) {
        OK(PIOc_def_var(f.ncid, names[v], PIO_INT, v == 1 ? 2 : 1, v == 1 ? kx : &x, all[v]));
        OK(PIOc_put_att_int(f.ncid, *all[v], "_FillValue", PIO_INT, 1, &fill));
    }
    OK(PIOc_def_var(f.ncid, "own_fill", PIO_INT, 1, &x, &f.own_fill));
    OK(PIOc_def_var(f.ncid, "text", PIO_CHAR, 1, &x, &f.text));
    OK(PIOc_def_var(f.ncid, "scalar", PIO_INT, 0, NULL, &f.scalar));
    OK(PIOc_def_var(f.ncid, "chunked", PIO_INT, 2, kx, &f.chunked));
    const PIO_Offset chunks[] = {2, 7};
    if (kind == deflated) {
        OK(PIOc_def_var_chunking(f.ncid, f.chunked, NC_CHUNKED, chunks));
        OK(PIOc_def_var_deflate(f.ncid, f.chunked, 0, 1, 1));
    }
    OK(PIOc_def_var(f.ncid, "records", PIO_INT, 2, tx, &f.records));
    OK(PIOc_enddef(f.ncid));
    return f;
}

/* Makes a decomposition in which the ranks hold elements in turn. With `even`, no rank holds
 * elements with odd indices. */
static int dealt(int even, int* n) {
    PIO_Offset map[NX];
    const int length = NX;
    int ioid = 0;
    *n = 0;
    for (int i = rank; i < NX; i += ranks) map[(*n)++] = even && i % 2 == 1 ? 0 : i + 1;
    OK(PIOc_InitDecomp(ios, PIO_INT, 1, &length, *n, map, &ioid, NULL, NULL, NULL));
    return ioid;
}

static void write_dealt(const file_t* f, int v, int ioid, int n, int plus) {
    int data[NX];
    for (int i = 0; i < n; i++) data[i] = plus + rank + i * ranks;
    OK(PIOc_write_darray(f->ncid, v, ioid, n, data, NULL));
}

static void expect(const file_t* f, int v, const int* want, int n, int line) {
    int got[K * NX];
    const int code = PIOc_get_var_int(f->ncid, v, got);
    for (int i = 0; i < n && code == 0; i++)
        if (got[i] != want[i]) {
            failures++;
            fprintf(stderr, "[rank %d] line %d: variable %d, element %d: %d, not %d\n", rank, line,
                    v, i, got[i], want[i]);
            return;
        }
    if (code == 0) return;
    failures++;
    fprintf(stderr, "[rank %d] line %d: variable %d: error %d\n", rank, line, v, code);
}
#define EXPECT(v, want, n) expect(f, v, want, n, __LINE__)

/* Checks the file after the first sync. */
static void expect_first(const file_t* f, int all, int filled) {
    int want[K * NX], got[NX], n;
    for (int i = 0; i < NX; i++) want[i] = i % 2 == 0 ? 100 + i : FILL;
    EXPECT(f->holes, want, NX);
    for (int i = 0; i < K * NX; i++) want[i] = i / NX == 1 ? 200 + i % NX : FILL;
    EXPECT(f->frames, want, K * NX);
    for (int i = 0; i < NX; i++) want[i] = i < 3 || i > 9 ? FILL : i < 6 ? 1 : 2;
    EXPECT(f->section, want, NX);
    for (int i = 0; i < NX; i++) want[i] = i % 3 == 0 ? 3 : FILL;
    EXPECT(f->strided, want, NX);
    for (int i = 0; i < NX; i++) want[i] = FILL;
    if (filled) EXPECT(f->never, want, NX);
    for (int i = 0; i < NX; i++) want[i] = i == 4 ? 5 : NC_FILL_INT;
    EXPECT(f->own_fill, want, NX);
    want[0] = NC_FILL_INT;
    EXPECT(f->scalar, want, 1);
    for (int i = 0; i < K * NX; i++) want[i] = i / NX == 2 ? 300 + i % NX : NC_FILL_INT;
    EXPECT(f->chunked, want, K * NX);
    char text[NX];
    OK(PIOc_get_var_text(f->ncid, f->text, text));
    for (int i = 0; i < NX; i++) CHECK(text[i] == (i == 1 ? 'a' : NC_FILL_CHAR));
    /* Puts by a decomposition, and then by one with holes, whose elements must not change. */
    for (int even = 0; even < 2; even++) {
        const int ioid = dealt(even, &n);
        for (int i = 0; i < n; i++) got[i] = -9;
        OK(PIOc_read_darray(f->ncid, f->holes, ioid, n, got));
        for (int i = 0; i < n; i++) {
            const int at = rank + i * ranks;
            CHECK(got[i] == (at % 2 == 0 ? 100 + at : even ? -9 : FILL));
        }
        OK(PIOc_freedecomp(ios, ioid));
    }
    if (!all) return;
    for (int i = 0; i < NX; i++) want[i] = i % 2 == 0 ? 400 + i : NC_FILL_INT;
    EXPECT(f->records, want, NX);
}

static void put_first(const file_t* f) {
    int n, m;
    const int ones[] = {1, 1, 1, 1, 1}, twos[] = {2, 2, 2, 2}, five = 5;
    const int threes[] = {3, 3, 3, 3, 3, 3, 3, 3};
    const int even = dealt(1, &n), all = dealt(0, &m);
    write_dealt(f, f->holes, even, n, 100);
    OK(PIOc_setframe(f->ncid, f->frames, 1));
    write_dealt(f, f->frames, all, m, 200);
    PIO_Offset start = 3, count = 5, step = 3;
    OK(PIOc_put_vara_int(f->ncid, f->section, &start, &count, ones));
    start = 6, count = 4;
    OK(PIOc_put_vara_int(f->ncid, f->section, &start, &count, twos));
    start = 0, count = 8;
    OK(PIOc_put_vars_int(f->ncid, f->strided, &start, &count, &step, threes));
    start = 4;
    OK(PIOc_put_var1_int(f->ncid, f->own_fill, &start, &five));
    start = 1;
    OK(PIOc_put_var1_text(f->ncid, f->text, &start, "a"));
    OK(PIOc_setframe(f->ncid, f->chunked, 2));
    write_dealt(f, f->chunked, all, m, 300);
    OK(PIOc_setframe(f->ncid, f->records, 0));
    write_dealt(f, f->records, even, n, 400);
    OK(PIOc_freedecomp(ios, even));
    OK(PIOc_freedecomp(ios, all));
}

/* @param syncs  nonzero: sync before reading; 0: the first read has to sync */
static void read_back(int iotype, const char* path, int kind, int syncs) {
    file_t file = new_file(path, iotype, kind), *f = &file;
    int want[K * NX], n, type = iotype;
    put_first(f);
    if (syncs) OK(PIOc_sync(f->ncid));
    expect_first(f, 1, 0);
    /* Puts more data, over fill values and over values. */
    const int all = dealt(0, &n);
    for (int k = 0; k < K; k += 2) {
        OK(PIOc_setframe(f->ncid, f->frames, k));
        write_dealt(f, f->frames, all, n, 500 + 100 * k);
    }
    OK(PIOc_setframe(f->ncid, f->chunked, 0));
    write_dealt(f, f->chunked, all, n, 800);
    write_dealt(f, f->holes, all, n, 900);
    const PIO_Offset start = 20, count = 4;
    const int sevens[] = {7, 7, 7, 7};
    OK(PIOc_put_vara_int(f->ncid, f->never, &start, &count, sevens));
    OK(PIOc_setframe(f->ncid, f->records, 1));
    write_dealt(f, f->records, all, n, 1000);
    OK(PIOc_freedecomp(ios, all));
    for (int opened = 0; opened < 2; opened++) {
        for (int i = 0; i < K * NX; i++)
            want[i] = (i / NX == 1 ? 200 : 500 + 100 * (i / NX)) + i % NX;
        EXPECT(f->frames, want, K * NX);
        for (int i = 0; i < K * NX; i++)
            want[i] = i / NX == 1 ? NC_FILL_INT : i / NX == 0 ? 800 + i % NX : 300 + i % NX;
        EXPECT(f->chunked, want, K * NX);
        for (int i = 0; i < NX; i++) want[i] = 900 + i;
        EXPECT(f->holes, want, NX);
        for (int i = 0; i < NX; i++) want[i] = i < 20 ? FILL : 7;
        EXPECT(f->never, want, NX);
        for (int i = 0; i < NX; i++) want[i] = i < 3 || i > 9 ? FILL : i < 6 ? 1 : 2;
        EXPECT(f->section, want, NX);
        for (int i = 0; i < NX; i++) want[i] = i % 2 == 0 ? 400 + i : NC_FILL_INT;
        for (int i = 0; i < NX; i++) want[NX + i] = 1000 + i;
        EXPECT(f->records, want, 2 * NX);
        OK(PIOc_closefile(f->ncid));
        if (opened == 0) OK(PIOc_openfile(ios, &f->ncid, &type, path, PIO_NOWRITE));
    }
}

/* Tests that data that could be read are also in the file: netCDF-C must find them after the
 * close. */
static void judged_by_netcdf(int iotype, const char* path) {
    file_t file = new_file(path, iotype, plain), *f = &file;
    int ncid, got[NX];
    put_first(f);
    expect_first(f, 1, 1);
    OK(PIOc_closefile(f->ncid));
    MPI_Barrier(world);
    if (rank != 0) return;
    OK(nc_open(path, NC_NOWRITE, &ncid));
    OK(nc_get_var_int(ncid, f->holes, got));
    for (int i = 0; i < NX; i++) CHECK(got[i] == (i % 2 == 0 ? 100 + i : FILL));
    OK(nc_get_var_int(ncid, f->never, got));
    for (int i = 0; i < NX; i++) CHECK(got[i] == FILL);
    OK(nc_close(ncid));
}

int main(int argc, char** argv) {
    if (!begin_system(argc, argv, 1, &ios)) return failures == 0 ? 0 : 1;
    for (int syncs = 0; syncs < 2; syncs++) {
        read_back(PIO_IOTYPE_PNETCDF, "partial.nc", plain, syncs);
        read_back(PIO_IOTYPE_NETCDF4P, "partial4.nc", plain, syncs);
        read_back(PIO_IOTYPE_NETCDF4C, "packed.nc", deflated, syncs);
        read_back(PIO_IOTYPE_NETCDF4P, "serial.nc", serial, syncs);
    }
    judged_by_netcdf(PIO_IOTYPE_PNETCDF, "judged.nc");
    judged_by_netcdf(PIO_IOTYPE_NETCDF4P, "judged4.nc");
    OK(PIOc_free_iosystem(ios));
    MPI_Finalize();
    return failures == 0 ? 0 : 1;
}
