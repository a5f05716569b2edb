/* netCDF-Fortran's functions for parallel access. From version 4.6 on, a netCDF-Fortran that was
 * built with a serial netCDF-C refuses these calls without asking netCDF-C.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <string.h>

#include "front.h"

typedef int opens_file(const char* path, const int* mode, const int* comm, const int* info, int* id,
                       size_t length);
typedef int sets_access(const int* id, const int* variable, const int* access);
opens_file nf_create_par_, nf_open_par_;
sets_access nf_var_par_access_;

/* Calls netCDF-Fortran's function. If netCDF-Fortran was built without parallel files, offers the
 * call to the front instead. */
static int open_parallel(const void* caller, const char* name, int create, const char* path,
                         const int* mode, const int* comm, const int* info, int* id,
                         size_t length) {
    opens_file* const real = (opens_file*)real_function(caller, name);
    int code = real != NULL ? real(path, mode, comm, info, id, length) : netcdf_no_parallel;
    char text[PATH_MAX];
    while (length > 0 && path[length - 1] == ' ') --length;
    struct library* const library = library_of(caller);
    if (code != netcdf_no_parallel || library == NULL || length >= sizeof text) return code;
    memcpy(text, path, length);
    text[length] = '\0';
    const struct thalweg_call call = {.create = create,
                                      .mode = *mode,
                                      .kind = thalweg_fortran_comm,
                                      .comm = (unsigned)*comm,
                                      .info = (unsigned)*info};
    offer(library, call, text, id, &code);
    return code;
}

int nf_create_par_(const char* path, const int* mode, const int* comm, const int* info, int* id,
                   size_t length) {
    return open_parallel(CALLER, "nf_create_par_", 1, path, mode, comm, info, id, length);
}

int nf_open_par_(const char* path, const int* mode, const int* comm, const int* info, int* id,
                 size_t length) {
    return open_parallel(CALLER, "nf_open_par_", 0, path, mode, comm, info, id, length);
}

int nf_var_par_access_(const int* id, const int* variable, const int* access) {
    sets_access* const real = (sets_access*)real_function(CALLER, "nf_var_par_access_");
    struct library* const library = library_of(CALLER);
    if (library != NULL && owner_of(library, *id) != thalweg_not_taken)
        return front_of(library)->var_par_access(&library->shared, *id, *variable - 1, *access);
    return real != NULL ? real(id, variable, access) : netcdf_no_parallel;
}
