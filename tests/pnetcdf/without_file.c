/* Calls PnetCDF's functions that concern no open file, before MPI runs and after.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int rank;

static void say(const char* what, long long value) {
    if (rank == 0) printf("%s %lld\n", what, value);
}
#define SAY(call) say(#call, call)

static void texts(void) {
    const int codes[] = {0, -33, -36, -60, -128, -202, -214, -233, -236, -253, -273};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (rank == 0) printf("%d %s\n", codes[i], ncmpi_strerrno(codes[i]));
    SAY(strlen(ncmpi_strerror(-202)) > 0);
    SAY((int)strlen(ncmpi_strerror(0)));
    for (int code = -33; code >= -39; code--) SAY((int)strlen(ncmpi_strerror(code)));
    SAY(strlen(ncmpi_inq_libvers()) > 0);
    SAY(strcmp(ncmpi_strerror(2), strerror(2)));
}

static void formats(const char* path) {
    int old = 0, format = 0, id = -1;
    SAY(ncmpi_set_default_format(NC_FORMAT_CDF5, &old));
    say("old", old);
    SAY(ncmpi_inq_default_format(&format));
    say("default", format);
    SAY(ncmpi_create(MPI_COMM_WORLD, path, 0, MPI_INFO_NULL, &id));
    SAY(ncmpi_inq_format(id, &format));
    say("format", format);
    SAY(ncmpi_close(id));
    SAY(ncmpi_inq_file_format(path, &format));
    say("format", format);
    SAY(ncmpi_inq_file_format("missing.nc", &format));
    SAY(ncmpi_set_default_format(77, &old));
    SAY(ncmpi_set_default_format(NC_FORMAT_CLASSIC, NULL));
}

static void files(const char* path) {
    int id = -1;
    MPI_Offset size = 0;
    SAY(ncmpi_create(MPI_COMM_WORLD, path, NC_NOCLOBBER, MPI_INFO_NULL, &id));
    SAY(ncmpi_open(MPI_COMM_WORLD, "missing.nc", 0, MPI_INFO_NULL, &id));
    SAY(ncmpi_close(77));
    SAY(ncmpi_inq_malloc_size(&size));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) SAY(ncmpi_delete(path, MPI_INFO_NULL));
    if (rank == 0) SAY(access(path, F_OK));
    if (rank == 0) SAY(ncmpi_delete(path, MPI_INFO_NULL));
}

int main(int argc, char** argv) {
    if (argc < 2) return 1;
    if (ncmpi_strerror(0) == NULL) return 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    texts();
    formats(argv[1]);
    files(argv[1]);
    MPI_Finalize();
    return 0;
}
