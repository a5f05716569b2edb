/* Tests Zarr stores (THALWEG_FORMAT=zarr): what they lack is an error, attributes can change after
 * data, and inquiries give what is in the store.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "rows.h"

/* Checks that record r of v, read through an open file, has the values that fill_rows has put. */
static void expect_rows(int ncid, int v, int ioid, int length, int r, double plus) {
    double want[NX * NY + 1], got[NX * NY + 1];
    fill_rows(want, plus);
    OK(PIOc_setframe(ncid, v, r));
    OK(PIOc_read_darray(ncid, v, ioid, length, got));
    int wrong = 0;
    for (int i = 0; i < length - 1; i++) wrong += got[i] != want[i];
    IS(wrong, 0);
}

static void stored(int ncid, int v, int level, PIO_Offset rows) {
    int shuffle, deflate, its, layout;
    PIO_Offset chunks[3] = {0};
    OK(PIOc_inq_var_deflate(ncid, v, &shuffle, &deflate, &its));
    CHECK(shuffle == 0 && deflate == 1 && its == level);
    OK(PIOc_inq_var_chunking(ncid, v, &layout, chunks));
    CHECK(layout == NC_CHUNKED && chunks[0] == 1 && chunks[1] == rows && chunks[2] == NX);
}

/* Writes a store, by an I/O type that is not of netCDF-4, and continues it. */
static void write_store(int ioid, int length) {
    file_t f = new_file("store", PIO_IOTYPE_PNETCDF, PIO_CLOBBER);
    const PIO_Offset chunks[] = {1, 2, NX}, wrong[] = {2, 2, NX};
    int text, other, format, iotype = PIO_IOTYPE_NETCDF;
    char title[7] = "", name[NX];
    OK(PIOc_inq_format(f.ncid, &format));
    IS(format, NC_FORMAT_NETCDF4);
    OK(PIOc_def_var(f.ncid, "text", PIO_CHAR, 1, &f.x, &text));
    IS(PIOc_def_dim(f.ncid, "more", PIO_UNLIMITED, &other), NC_EUNLIMIT);
    OK(PIOc_def_var_deflate(f.ncid, f.v, 1, 1, 3));
    OK(PIOc_def_var_quantize(f.ncid, f.v, PIO_QUANTIZE_BITROUND, 40));
    IS(PIOc_def_var_endian(f.ncid, f.v, NC_ENDIAN_BIG), NC_EINVAL);
    IS(PIOc_def_var_chunking(f.ncid, f.v, NC_CHUNKED, wrong), NC_EINVAL);
    OK(PIOc_def_var_chunking(f.ncid, f.v, NC_CHUNKED, chunks));
    OK(PIOc_enddef(f.ncid));
    write_record(&f, ioid, length, 0, 0.5);
    OK(PIOc_put_var_text(f.ncid, text, "Johann Moser"));
    OK(PIOc_sync(f.ncid));
    stored(f.ncid, f.v, 3, 2);
    OK(PIOc_put_att_text(f.ncid, NC_GLOBAL, "title", 5, "first"));
    expect_rows(f.ncid, f.v, ioid, length, 0, 0.5);
    /* New definitions after data are an error, and nothing is lost. */
    OK(PIOc_redef(f.ncid));
    OK(PIOc_def_var(f.ncid, "late", PIO_DOUBLE, 1, &f.x, &other));
    IS(PIOc_enddef(f.ncid), NC_EPERM);
    IS(PIOc_inq_varid(f.ncid, "late", &other), NC_ENOTVAR);
    write_record(&f, ioid, length, 1, 7);
    OK(PIOc_closefile(f.ncid));
    OK(PIOc_openfile(ios, &f.ncid, &iotype, "store", PIO_WRITE));
    OK(PIOc_put_att_text(f.ncid, NC_GLOBAL, "title", 6, "second"));
    write_record(&f, ioid, length, 2, 8);
    OK(PIOc_closefile(f.ncid));
    OK(PIOc_openfile(ios, &f.ncid, &iotype, "store", PIO_NOWRITE));
    OK(PIOc_get_att_text(f.ncid, NC_GLOBAL, "title", title));
    CHECK(strcmp(title, "second") == 0);
    OK(PIOc_get_var_text(f.ncid, text, name));
    CHECK(memcmp(name, "Johann Moser", NX) == 0);
    stored(f.ncid, f.v, 3, 2);
    const double plus[] = {0.5, 7, 8};
    for (int r = 0; r < 3; r++) expect_rows(f.ncid, f.v, ioid, length, r, plus[r]);
    OK(PIOc_closefile(f.ncid));
    /* A store is not replaced. */
    int ncid;
    CHECK(PIOc_createfile(ios, &ncid, &pnetcdf, "store", PIO_CLOBBER) != PIO_NOERR);
    OK(PIOc_deletefile(ios, "store"));
    IS(PIOc_openfile(ios, &ncid, &iotype, "store", PIO_NOWRITE), ENOENT);
}

int main(int argc, char** argv) {
    if (!begin_system(argc, argv, 0, &ios)) return failures == 0 ? 0 : 1;
    int length, ioid = dealt_rows(PIO_DOUBLE, &length);
    write_store(ioid, length);
    OK(PIOc_freedecomp(ios, ioid));
    OK(PIOc_finalize(ios));
    MPI_Finalize();
    return failures == 0 ? 0 : 1;
}
