/* Tests several iosystems: on overlapping ranks, one per component, with ranks that only do I/O;
 * and files of all of them at the same time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include <unistd.h>

enum { N = 24, LARGE = 100000 };

/* Creates a file in an iosystem and leaves it open: v(time, x) = 100 t + x. */
static int begin_file(int ios, const char* path, int me, int of) {
    int ncid, dims[2], v, ioid, iotype = PIO_IOTYPE_PNETCDF, n = 0;
    PIO_Offset map[N];
    const int length[] = {N};
    double data[N];
    OK(PIOc_createfile(ios, &ncid, &iotype, path, PIO_CLOBBER));
    OK(PIOc_def_dim(ncid, "time", PIO_UNLIMITED, &dims[0]));
    OK(PIOc_def_dim(ncid, "x", N, &dims[1]));
    OK(PIOc_def_var(ncid, "v", PIO_DOUBLE, 2, dims, &v));
    OK(PIOc_enddef(ncid));
    for (int i = N * me / of; i < N * (me + 1) / of; i++) map[n++] = i + 1;
    OK(PIOc_InitDecomp(ios, PIO_DOUBLE, 1, length, n, map, &ioid, NULL, NULL, NULL));
    for (int t = 0; t < 2; t++) {
        for (int i = 0; i < n; i++) data[i] = 100 * t + (double)(map[i] - 1);
        OK(PIOc_setframe(ncid, v, t));
        OK(PIOc_write_darray(ncid, v, ioid, n, data, NULL));
    }
    return ncid;
}

static void expect_file(const char* path) {
    int ncid;
    double got[2 * N];
    OK(nc_open(path, NC_NOWRITE, &ncid));
    OK(nc_get_var_double(ncid, 0, got));
    for (int i = 0; i < 2 * N; i++) CHECK(got[i] == 100 * (i / N) + i % N);
    OK(nc_close(ncid));
}

/* Makes an iosystem of all ranks, and one of each parity, with open files in both. */
static void overlapping(void) {
    MPI_Comm half;
    int all, part, me, of, a, b, c;
    const char* const path = rank % 2 == 0 ? "even.nc" : "odd.nc";
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Comm_rank(half, &me);
    MPI_Comm_size(half, &of);
    OK(PIOc_Init_Intracomm(MPI_COMM_WORLD, ranks, 1, 0, PIO_REARR_BOX, &all));
    OK(PIOc_Init_Intracomm(half, 1, 1, of - 1, PIO_REARR_SUBSET, &part));
    a = begin_file(all, "all.nc", rank, ranks);
    b = begin_file(part, path, me, of);
    c = begin_file(all, "more.nc", rank, ranks);
    CHECK(a != b && b != c && a != c && a >= 0);
    OK(PIOc_set_iosystem_error_handling(part, PIO_BCAST_ERROR, NULL));
    OK(PIOc_closefile(a));
    OK(PIOc_closefile(b));
    OK(PIOc_closefile(c));
    OK(PIOc_finalize(part));
    MPI_Comm_free(&half);
    /* A decomposition or file of one iosystem is read in another one. */
    int id, iotype = PIO_IOTYPE_NETCDF;
    MPI_Barrier(MPI_COMM_WORLD);
    OK(PIOc_openfile(all, &id, &iotype, "even.nc", PIO_NOWRITE));
    double got[2 * N];
    OK(PIOc_get_var_double(id, 0, got));
    CHECK(got[N + 3] == 103);
    OK(PIOc_closefile(id));
    OK(PIOc_finalize(all));
    if (rank != 0) return;
    expect_file("all.nc");
    expect_file("more.nc");
    expect_file("even.nc");
    if (ranks > 1) expect_file("odd.nc");
}

/* Returns the bytes that this process has written. */
static long long written(void) {
    long long bytes = 0;
    char line[100];
    FILE* const file = fopen("/proc/self/io", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "wchar: %lld", &bytes) == 1) break;
    if (file != NULL) fclose(file);
    return bytes;
}

/* Writes a large array, from the component's root. */
static void write_large(int ios, const char* path) {
    int ncid, x, v, iotype = PIO_IOTYPE_PNETCDF;
    static double data[LARGE];
    for (int i = 0; i < LARGE; i++) data[i] = i;
    OK(PIOc_createfile(ios, &ncid, &iotype, path, PIO_CLOBBER));
    OK(PIOc_def_dim(ncid, "x", LARGE, &x));
    OK(PIOc_def_var(ncid, "v", PIO_DOUBLE, 1, &x, &v));
    OK(PIOc_enddef(ncid));
    OK(PIOc_put_var_double(ncid, v, data));
    OK(PIOc_closefile(ncid));
    /* Reads the array back on the ranks of the component. */
    OK(PIOc_openfile(ios, &ncid, &iotype, path, PIO_NOWRITE));
    data[LARGE - 1] = 0;
    OK(PIOc_get_var_double(ncid, v, data));
    CHECK(data[LARGE - 1] == LARGE - 1);
    OK(PIOc_closefile(ncid));
}

/* Tests asynchronous I/O: the first rank does I/O; the others form one component, or two. */
static void asynchronous(void) {
    if (ranks < 3) return;
    const int components = 2;
    const long long before = written();
    int sizes[] = {1, ranks - 2}, ids[2];
    MPI_Comm io, comps[2];
    OK(PIOc_init_async(MPI_COMM_WORLD, 1, NULL, components, sizes, NULL, &io, comps, PIO_REARR_BOX,
                       ids));
    if (rank > 0) { /* the I/O rank returns when all components have ended */
        const int mine = rank == 1 ? 0 : 1;
        const char* const path = mine == 0 ? "atm.nc" : "ocn.nc";
        OK(PIOc_closefile(begin_file(ids[mine], path, mine == 0 ? 0 : rank - 2, sizes[mine])));
        write_large(ids[mine], mine == 0 ? "atm_large.nc" : "ocn_large.nc");
        bool active = false;
        OK(PIOc_iosystem_is_active(ids[mine], &active));
        CHECK(active && ids[0] != ids[1]);
        /* Programs finalize the iosystems of all components on every rank. */
        for (int c = 0; c < 2; c++) {
            OK(PIOc_finalize(ids[c]));
            OK(PIOc_iosystem_is_active(ids[c], &active));
            CHECK(!active);
            IS(PIOc_finalize(ids[c]), PIO_EBADID);
        }
    } else {
        CHECK(ids[0] == -1 && ids[1] == -1);
    }
    const long long bytes = written() - before, both = 2LL * LARGE * (long long)sizeof(double);
    CHECK(rank == 0 ? bytes >= both : bytes < both / 4);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != 0) return;
    expect_file("atm.nc");
    expect_file("ocn.nc");
}

/* Describes the map of a decomposition that was used again, and never uses the second one. It
 * outlives the file and, without `freed`, the iosystem. */
static void described_again(int ios, int freed) {
    int ncid, v, dim, first, second, iotype = PIO_IOTYPE_PNETCDF;
    const int length[] = {ranks};
    const PIO_Offset map[] = {rank + 1};
    const double mine = rank;
    OK(PIOc_createfile(ios, &ncid, &iotype, "again.nc", PIO_CLOBBER));
    OK(PIOc_def_dim(ncid, "x", ranks, &dim));
    OK(PIOc_def_var(ncid, "v", PIO_DOUBLE, 1, &dim, &v));
    OK(PIOc_enddef(ncid));
    OK(PIOc_InitDecomp(ios, PIO_DOUBLE, 1, length, 1, map, &first, NULL, NULL, NULL));
    OK(PIOc_write_darray(ncid, v, first, 1, (void*)&mine, NULL));
    OK(PIOc_closefile(ncid));
    if (freed) OK(PIOc_freedecomp(ios, first));
    OK(PIOc_InitDecomp(ios, PIO_DOUBLE, 1, length, 1, map, &second, NULL, NULL, NULL));
    if (freed) OK(PIOc_freedecomp(ios, second));
}

/* Tests that MPI_Finalize closes files of every iosystem. */
static void forgotten(void) {
    MPI_Comm half;
    int all, part, me, of;
    unlink("forgotten.nc");
    unlink(rank % 2 == 0 ? "forgotten_even.nc" : "forgotten_odd.nc");
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Comm_rank(half, &me);
    MPI_Comm_size(half, &of);
    OK(PIOc_Init_Intracomm(MPI_COMM_WORLD, 1, 1, 0, PIO_REARR_BOX, &all));
    OK(PIOc_Init_Intracomm(half, 1, 1, 0, PIO_REARR_BOX, &part));
    described_again(all, 1);
    described_again(all, 0);
    begin_file(all, "forgotten.nc", rank, ranks);
    begin_file(part, rank % 2 == 0 ? "forgotten_even.nc" : "forgotten_odd.nc", me, of);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    OK(PIOc_set_iosystem_error_handling(PIO_DEFAULT, PIO_RETURN_ERROR, NULL));
    overlapping();
    asynchronous();
    forgotten();
    MPI_Finalize();
    CHECK(access("forgotten.nc", R_OK) == 0);
    CHECK(access(rank % 2 == 0 ? "forgotten_even.nc" : "forgotten_odd.nc", R_OK) == 0);
    return failures == 0 ? 0 : 1;
}
