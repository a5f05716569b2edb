/* Opens and creates files again that are open, and prints what each rank got. An id reads and
 * writes data while another id of its file is in define mode.
 *
 * Usage: ids FILE
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>

#include "say.h"

static int d, t, v, w;
static float x[64], back[8];
static MPI_Offset s[2], c[2] = {4, 0};

static void fresh(const char* path, int* id) {
    SAY(ncmpi_create(MPI_COMM_WORLD, path, NC_64BIT_DATA, MPI_INFO_NULL, id));
    ncmpi_def_dim(*id, "n", 4 * ranks, &d);
    ncmpi_def_dim(*id, "t", NC_UNLIMITED, &t);
    ncmpi_def_var(*id, "v", NC_FLOAT, 1, &d, &v);
    int dims[2] = {t, d};
    ncmpi_def_var(*id, "w", NC_SHORT, 2, dims, &w);
}

static void read_back(int id) {
    SAY(ncmpi_get_vara_float_all(id, v, s, c, back));
    say("got", (long long)back[3]);
}

static void define_and_put(const char* path) {
    int id = -1, other = -1, request = 0;
    fresh(path, &id);
    SAY(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &other)); /* has no header */
    SAY(ncmpi_enddef(id));
    SAY(ncmpi_put_vara_float_all(id, v, s, c, x));
    SAY(ncmpi_sync(id));
    SAY(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &other));
    SAY(ncmpi_redef(id));
    SAY(ncmpi_put_att_text(id, v, "units", 1, "m"));
    SAY(ncmpi_put_vara_float_all(id, v, s, c, x));
    SAY(ncmpi_put_vara_float_all(other, v, s, c, x + 1));
    SAY(ncmpi_iput_vara_float(other, v, s, c, x + 2, &request));
    SAY(ncmpi_wait_all(other, NC_REQ_ALL, NULL, NULL));
    read_back(other);
    SAY(ncmpi_begin_indep_data(other));
    SAY(ncmpi_put_vara_float(other, v, s, c, x + 3));
    SAY(ncmpi_get_vara_float(other, v, s, c, back));
    say("got", (long long)back[3]);
    SAY(ncmpi_end_indep_data(other));
    SAY(ncmpi_sync(other));
    SAY(ncmpi_redef(other));
    SAY(ncmpi_enddef(other));
    SAY(ncmpi_put_vara_float_all(id, v, s, c, x + 1));
    SAY(ncmpi_enddef(id));
    read_back(id);
    SAY(ncmpi_close(id));
    SAY(ncmpi_close(other));
    SAY(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &other));
    read_back(other);
    SAY(ncmpi_close(other));
}

/* The file that is created last has the name; the ids of the others stay valid. */
static void create_again(const char* path) {
    int id = -1, other = -1, third = -1, reader = -1;
    fresh(path, &id);
    SAY(ncmpi_enddef(id));
    SAY(ncmpi_put_vara_float_all(id, v, s, c, x));
    fresh(path, &other);
    say("id", other);
    SAY(ncmpi_enddef(other));
    SAY(ncmpi_put_vara_float_all(other, v, s, c, x + 5));
    SAY(ncmpi_inq_varid(id, "v", &v));
    SAY(ncmpi_close(id));
    SAY(ncmpi_sync(other));
    read_back(other);
    SAY(ncmpi_close(other));
    SAY(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &reader));
    read_back(reader);
    SAY(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &other));
    SAY(ncmpi_create(MPI_COMM_WORLD, path, NC_NOCLOBBER, MPI_INFO_NULL, &id));
    fresh(path, &id);
    SAY(ncmpi_close(reader));
    SAY(ncmpi_close(other));
    fresh(path, &other); /* the definitions of the first have not ended */
    SAY(ncmpi_create(MPI_COMM_WORLD, path, NC_NOCLOBBER, MPI_INFO_NULL, &third));
    SAY(ncmpi_close(id));
    SAY(ncmpi_enddef(other));
    SAY(ncmpi_put_vara_float_all(other, v, s, c, x + 7));
    SAY(ncmpi_close(other));
}

int main(int argc, char** argv) {
    start(&argc, &argv);
    if (argc != 2) MPI_Abort(MPI_COMM_WORLD, 2);
    for (int i = 0; i < 64; i++) x[i] = (float)(i + 1);
    s[0] = 4 * rank;
    define_and_put(argv[1]);
    create_again(argv[1]);
    MPI_Finalize();
    return 0;
}
