/* Inquires the places of a file's data before they are written, and shows those of closed files;
 * writes and reads by places (vard).
 *
 * Usage: places make, or places show.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;

/* Shows a file's places. The lines must be the same for a file that is written and for the same
 * file when it is read. */
static void show(int id, const char* path) {
    MPI_Offset extent = -1, header = -1, record = -1;
    int variables = 0;
    const int code = ncmpi_inq_header_extent(id, &extent);
    ncmpi_inq_header_size(id, &header);
    ncmpi_inq_recsize(id, &record);
    ncmpi_inq_nvars(id, &variables);
    if (rank != 0) return;
    if (code != 0) {
        printf("inside %s: %d\n", path, code);
        return;
    }
    printf("inside %s: header %lld of %lld, records of %lld, data at", path, (long long)header,
           (long long)extent, (long long)record);
    for (int v = 0; v < variables; v++) {
        MPI_Offset offset = -1;
        ncmpi_inq_varoffset(id, v, &offset);
        printf(" %lld", (long long)offset);
    }
    printf("\n");
}

static int id, a, b, r, q, dims[2];

static void begin(const char* path, int mode, MPI_Info info) {
    ncmpi_create(MPI_COMM_WORLD, path, mode, info, &id);
    ncmpi_def_dim(id, "t", NC_UNLIMITED, &dims[0]);
    ncmpi_def_dim(id, "x", 8 * ranks, &dims[1]);
    ncmpi_def_var(id, "a", NC_SHORT, 1, dims + 1, &a);
    ncmpi_def_var(id, "r", NC_INT, 2, dims, &r);
    ncmpi_def_var(id, "b", NC_INT, 1, dims + 1, &b);
    ncmpi_def_var(id, "q", NC_INT, 2, dims, &q);
    ncmpi_put_att_text(id, NC_GLOBAL, "title", 5, "hello");
}

static void end(const char* path) {
    MPI_Offset start[2] = {1, 8 * rank}, count[2] = {1, 8};
    int values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    ncmpi_put_vara_int_all(id, r, start, count, values);
    show(id, path);
    ncmpi_close(id);
}

static void make(void) {
    begin("a.nc", NC_64BIT_DATA, MPI_INFO_NULL);
    ncmpi_enddef(id);
    show(id, "a.nc");
    ncmpi_close(id);

    begin("b.nc", 0, MPI_INFO_NULL);
    ncmpi__enddef(id, 1000, 512, 100, 1024);
    end("b.nc");

    MPI_Info info, used;
    char value[MPI_MAX_INFO_VAL + 1] = "";
    int found = 0;
    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_header_align_size", "2048");
    MPI_Info_set(info, "nc_record_align_size", "4096");
    begin("c.nc", NC_64BIT_OFFSET, info);
    ncmpi__enddef(id, 0, 4, 0, 4);
    ncmpi_inq_file_info(id, &used);
    for (const char* const* name =
             (const char* const[]){"nc_header_align_size", "nc_var_align_size",
                                   "nc_record_align_size", NULL};
         *name != NULL; name++) {
        MPI_Info_get(used, *name, MPI_MAX_INFO_VAL, value, &found);
        if (rank == 0) printf("%s is %s\n", *name, found ? value : "not told");
    }
    MPI_Info_free(&used);
    end("c.nc");
    MPI_Info_free(&info);
}

/* Writes nothing into a variable of 64 MiB. */
static void leave_hole(void) {
    MPI_Offset start[1] = {8 * rank}, count[1] = {8};
    int values[8] = {0}, dim = 0, huge = 0;
    begin("h.nc", NC_64BIT_DATA, MPI_INFO_NULL);
    ncmpi_def_dim(id, "huge", 1 << 24, &dim);
    ncmpi_def_var(id, "huge", NC_INT, 1, &dim, &huge);
    ncmpi_enddef(id);
    ncmpi_put_vara_int_all(id, b, start, count, values);
    ncmpi_close(id);
}

/* Puts by places of two variables and two records, and compares what sections find there. */
static void put_by_places(void) {
    MPI_Datatype type;
    MPI_Offset at_r = 0, at_q = 0, record = 0;
    int values[8], back[8] = {0}, twice[2][4] = {{0}};
    begin("v.nc", NC_64BIT_OFFSET, MPI_INFO_NULL);
    ncmpi_enddef(id);
    ncmpi_inq_varoffset(id, r, &at_r);
    ncmpi_inq_varoffset(id, q, &at_q);
    ncmpi_inq_recsize(id, &record);
    /* Half a row of each variable in two records. */
    const int lengths[4] = {2, 2, 2, 2};
    const MPI_Aint mine = 8 * rank * (MPI_Aint)sizeof(int), apart = (MPI_Aint)(at_q - at_r);
    const MPI_Aint places[4] = {mine, mine + apart, mine + record, mine + record + apart};
    MPI_Type_create_hindexed(4, lengths, places, MPI_INT, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < 8; i++) values[i] = 10 * rank + i;
    int code = ncmpi_put_vard_all(id, r, type, values, 8, MPI_INT);
    if (rank == 0) printf("put_vard_all: %d\n", code);
    code = ncmpi_put_vard_all(id, a, type, values, 8, MPI_INT);
    if (rank == 0) printf("put_vard_all of another type: %d\n", code);
    code = ncmpi_put_vard_all(id, r, type, values, 7, MPI_INT);
    if (rank == 0) printf("put_vard_all of another size: %d\n", code);
    code = ncmpi_put_vard_all(id, r, rank == 0 ? type : MPI_DATATYPE_NULL, values, 8, MPI_INT);
    if (rank == 0) printf("put_vard_all by one rank: %d\n", code);
    code = ncmpi_get_vard_all(id, r, type, back, 8, MPI_INT);
    MPI_Offset records = 0;
    ncmpi_inq_dimlen(id, dims[0], &records);
    if (rank == 0)
        printf("get_vard_all: %d, %s, %lld records\n", code,
               memcmp(values, back, sizeof back) == 0 ? "as put" : "different", (long long)records);
    MPI_Offset start[2] = {0, 8 * rank}, count[2] = {2, 2};
    code = ncmpi_get_vara_int_all(id, q, start, count, twice[0]);
    int right = twice[0][0] == values[2] && twice[0][1] == values[3] && twice[0][2] == values[6];
    MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (rank == 0) printf("sections: %d, %s\n", code, right ? "right" : "wrong");
    MPI_Type_free(&type);
    ncmpi_close(id);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc > 1 && strcmp(argv[1], "make") == 0) {
        make();
        leave_hole();
        put_by_places();
    } else {
        for (const char* const* path = (const char* const[]){"a.nc", "b.nc", "c.nc", NULL};
             *path != NULL; path++) {
            ncmpi_open(MPI_COMM_WORLD, *path, NC_NOWRITE, MPI_INFO_NULL, &id);
            show(id, *path);
            ncmpi_close(id);
        }
    }
    MPI_Finalize();
    return 0;
}
