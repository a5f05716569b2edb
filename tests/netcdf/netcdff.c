/* A stand-in for netCDF-Fortran on a serial netCDF-C: its functions refuse parallel files.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

enum { no_parallel = -114 };

int nf_create_par_(const char* path, const int* mode, const int* comm, const int* info, int* id,
                   size_t length);
int nf_create_par_(const char* path, const int* mode, const int* comm, const int* info, int* id,
                   size_t length) {
    (void)path, (void)mode, (void)comm, (void)info, (void)id, (void)length;
    return no_parallel;
}

int nf_open_par_(const char* path, const int* mode, const int* comm, const int* info, int* id,
                 size_t length);
int nf_open_par_(const char* path, const int* mode, const int* comm, const int* info, int* id,
                 size_t length) {
    (void)path, (void)mode, (void)comm, (void)info, (void)id, (void)length;
    return no_parallel;
}

int nf_var_par_access_(const int* id, const int* variable, const int* access);
int nf_var_par_access_(const int* id, const int* variable, const int* access) {
    (void)id, (void)variable, (void)access;
    return no_parallel;
}
