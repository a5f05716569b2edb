/* Tests maps in text files, written and read on the same ranks and on more; and the ranks that do
 * I/O.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include <stdlib.h>

enum { NY = 5, NX = 6 };

/* Makes the map of rank r: every n-th element for n ranks, and a hole at the end. */
static int make_map(int r, PIO_Offset* map) {
    int n = 0;
    for (int i = r; i < NY * NX; i += ranks) map[n++] = i + 1;
    map[n++] = 0;
    return n;
}

static void expect_map(const char* path) {
    int ndims = 0, *dims = NULL, n;
    PIO_Offset length = 0, *map = NULL, own[NY * NX + 1];
    OK(PIOc_readmap(path, &ndims, &dims, &length, &map, MPI_COMM_WORLD));
    n = make_map(rank, own);
    CHECK(ndims == 2 && dims != NULL && dims[0] == NY && dims[1] == NX);
    CHECK(length == n);
    for (int i = 0; i < n && length == n; i++) CHECK(map[i] == own[i]);
    free(dims);
    free(map);
}

static void there_and_back(int ios) {
    const int shape[] = {NY, NX};
    PIO_Offset map[NY * NX + 1];
    const int n = make_map(rank, map);
    int ioid;
    OK(PIOc_writemap("map.txt", 2, shape, n, map, MPI_COMM_WORLD));
    expect_map("map.txt");
    OK(PIOc_InitDecomp(ios, PIO_INT, 2, shape, n, map, &ioid, NULL, NULL, NULL));
    OK(PIOc_write_decomp("decomposition.txt", ios, ioid, MPI_COMM_WORLD));
    expect_map("decomposition.txt");
    OK(PIOc_freedecomp(ios, ioid));
}

/* Tests that a map of fewer ranks leaves the other ranks without elements, and that a map of more
 * ranks is an error. */
static void other_ranks(void) {
    MPI_Comm part;
    const int small = ranks - 1;
    int ndims, *dims = NULL;
    PIO_Offset length = -1, *map = NULL, own[NY * NX + 1];
    const int shape[] = {NY, NX}, n = make_map(rank, own);
    if (ranks == 1) return;
    MPI_Comm_split(MPI_COMM_WORLD, rank < small ? 0 : 1, rank, &part);
    if (rank < small) {
        OK(PIOc_writemap("small.txt", 2, shape, n, own, part));
        IS(PIOc_readmap("map.txt", &ndims, &dims, &length, &map, part), NC_EINVAL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    OK(PIOc_readmap("small.txt", &ndims, &dims, &length, &map, MPI_COMM_WORLD));
    CHECK(length == (rank < small ? n : 0));
    free(dims);
    free(map);
    MPI_Comm_free(&part);
}

/* Tests I/O ranks that are every second rank from rank 1 on, but at most two. */
static void io_ranks(void) {
    int ios, io = -2;
    bool is_io = true;
    if (ranks < 3) return;
    const int number = ranks > 3 ? 2 : 1;
    OK(PIOc_Init_Intracomm(MPI_COMM_WORLD, number, 2, 1, PIO_REARR_BOX, &ios));
    const int expected = rank == 1 ? 0 : rank == 3 ? 1 : -1;
    OK(PIOc_iotask_rank(ios, &io));
    IS(io, expected);
    OK(PIOc_iam_iotask(ios, &is_io));
    CHECK(is_io == (expected >= 0));
    OK(PIOc_finalize(ios));
}

int main(int argc, char** argv) {
    int ios;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    OK(PIOc_set_iosystem_error_handling(PIO_DEFAULT, PIO_RETURN_ERROR, NULL));
    OK(PIOc_Init_Intracomm(MPI_COMM_WORLD, 1, 1, 0, PIO_REARR_BOX, &ios));
    there_and_back(ios);
    OK(PIOc_finalize(ios));
    other_ranks();
    io_ranks();
    MPI_Finalize();
    return failures == 0 ? 0 : 1;
}
