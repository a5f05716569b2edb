/* A program that is compiled with its own declarations, like those of PIO's Fortran layer, and
 * linked with a libpioc that only has the names. It runs with the real libpioc, as a program that
 * was linked earlier does.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

int PIOc_Init_Intracomm_from_F90(int f90_comp_comm, int num_iotasks, int stride, int base,
                                 int rearr, void* rearr_opts, int* iosysidp);
int PIOc_finalize(int iosysid);
int PIOc_set_iosystem_error_handling(int iosysid, int method, int* old_method);
int PIOc_InitDecomp(int iosysid, int basetype, int ndims, const int* dims, int maplen,
                    const int64_t* compmap, int* ioidp, const int* rearr, const int64_t* iostart,
                    const int64_t* iocount);
int PIOc_freedecomp(int iosysid, int ioid);
int PIOc_createfile(int iosysid, int* ncidp, int* iotype, const char* fname, int mode);
int PIOc_openfile(int iosysid, int* ncidp, int* iotype, const char* fname, int mode);
int PIOc_closefile(int ncid);
int PIOc_def_dim(int ncid, const char* name, int64_t length, int* idp);
int PIOc_def_var(int ncid, const char* name, int type, int ndims, const int* dims, int* varidp);
int PIOc_inq_varid(int ncid, const char* name, int* varidp);
int PIOc_put_att_text(int ncid, int varid, const char* name, int64_t length, const char* text);
int PIOc_get_att_text(int ncid, int varid, const char* name, char* text);
int PIOc_enddef(int ncid);
int PIOc_setframe(int ncid, int varid, int frame);
int PIOc_write_darray(int ncid, int varid, int ioid, int64_t length, void* array, void* fillvalue);
int PIOc_read_darray(int ncid, int varid, int ioid, int64_t length, void* array);

static int failures;

static void check(int good, const char* what) {
    if (good) return;
    fprintf(stderr, "relink: %s\n", what);
    failures++;
}
#define OK(call) check((call) == 0, #call)

int main(int argc, char** argv) {
    enum { box = 1, pnetcdf = 1, return_error = -53, double_type = 6, nowrite = 0, global = -1 };
    struct { /* same layout as pio_rearr_opt_t in the Fortran module */
        int comm_type, fcd;
        struct {
            _Bool enable_hs, enable_isend;
            int max_pend_req;
        } comp2io, io2comp;
    } options = {0, 0, {1, 0, 64}, {1, 0, 64}};
    int ios, ioid, ncid, iotype = pnetcdf, dims[2], v, old = 0, rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int lengths[] = {2 * ranks};
    const int64_t map[] = {2 * rank + 2, 0, 2 * rank + 1}; /* 0: a hole */
    double data[] = {rank + 0.5, -1, rank + 0.25}, got[] = {0, 7, 0};
    OK(PIOc_Init_Intracomm_from_F90(MPI_Comm_c2f(MPI_COMM_WORLD), 1, 1, 0, box, &options, &ios));
    OK(PIOc_set_iosystem_error_handling(ios, return_error, &old));
    check(old == -51, "the error handling of a new iosystem");
    OK(PIOc_InitDecomp(ios, double_type, 1, lengths, 3, map, &ioid, NULL, NULL, NULL));
    OK(PIOc_createfile(ios, &ncid, &iotype, "relink.nc", 0));
    OK(PIOc_def_dim(ncid, "time", 0, &dims[0]));
    OK(PIOc_def_dim(ncid, "x", 2 * ranks, &dims[1]));
    OK(PIOc_def_var(ncid, "v", double_type, 2, dims, &v));
    OK(PIOc_put_att_text(ncid, global, "title", 6, "linked"));
    OK(PIOc_enddef(ncid));
    OK(PIOc_setframe(ncid, v, 0));
    OK(PIOc_write_darray(ncid, v, ioid, 3, data, NULL));
    OK(PIOc_closefile(ncid));
    OK(PIOc_openfile(ios, &ncid, &iotype, "relink.nc", nowrite));
    check(PIOc_inq_varid(ncid, "none", &v) == -49, "the code of an unknown variable");
    OK(PIOc_inq_varid(ncid, "v", &v));
    char title[7] = "";
    OK(PIOc_get_att_text(ncid, global, "title", title));
    check(strcmp(title, "linked") == 0, "the attribute");
    OK(PIOc_setframe(ncid, v, 0));
    OK(PIOc_read_darray(ncid, v, ioid, 3, got));
    check(got[0] == data[0] && got[1] == 7 && got[2] == data[2], "the values");
    OK(PIOc_closefile(ncid));
    OK(PIOc_freedecomp(ios, ioid));
    OK(PIOc_finalize(ios));
    MPI_Finalize();
    return failures == 0 ? 0 : 1;
}
