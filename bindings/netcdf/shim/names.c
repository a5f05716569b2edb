/* netCDF's names: calls that create, open and close files.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "front.h"

#include "policy.h"

/* Mode bits that choose a format. They conflict with the bit of the slot. */
enum {
    format_bits =
        thalweg_netcdf4 | thalweg_classic_model | thalweg_cdf2 | thalweg_cdf5 | thalweg_mpi_io
};
enum { use_create, use_open, use_remove };

int offer(struct library* library, struct thalweg_call call, const char* path, int* id, int* code) {
    if (*thalweg_shim_depth() > 0 || id == NULL) return 0;
    const int alone = call.kind == thalweg_no_comm, wanted = takes(&call, path);
    if (!wanted || !attach(library, &call)) {
        if (wanted && !alone) decline(&call);
        if (!alone || !prepare(library, path, call.mode, call.create ? use_create : use_open))
            return 0;
    }
    const int mode = (call.mode & ~format_bits) | library->shared.slot;
    call.library = &library->shared;
    set_call(&call);
    ++*thalweg_shim_depth();
    /* nc_open would look at the file first, on each rank for itself; nc_create goes to the table.
     */
    *code = library->nc_create(path, mode, id);
    --*thalweg_shim_depth();
    set_call(NULL);
    if (call.reached) return 1;
    if (!alone) decline(&call);
    return 0;
}

/* Calls the function that the program would have reached without the shim. */
#define PASS(name, ...)                                                                            \
    (library != NULL && library->name != NULL ? library->name(__VA_ARGS__) : netcdf_not_built)

/* Defines a function that creates or opens a file. It offers the call to the front, described by
 * `call_of_it`; if the front does not take it, the call is passed on. */
#define OFFERED(name, arguments, call_of_it, ...)                                                  \
    int name arguments {                                                                           \
        struct library* const library = library_of(CALLER);                                        \
        int code = 0;                                                                              \
        if (library != NULL && offer(library, (struct thalweg_call)call_of_it, path, id, &code))   \
            return code;                                                                           \
        return PASS(name, __VA_ARGS__);                                                            \
    }

#define WORDS(...)                                                                                 \
    { __VA_ARGS__ }

OFFERED(nc_create, (const char* path, int mode, int* id), WORDS(.create = 1, .mode = mode), path,
        mode, id)
OFFERED(nc__create, (const char* path, int mode, size_t size, size_t* hint, int* id),
        WORDS(.create = 1, .mode = mode, .initial_size = size, .chunk_size_hint = hint), path, mode,
        size, hint, id)
OFFERED(nc__create_mp, (const char* path, int mode, size_t size, int pe, size_t* hint, int* id),
        WORDS(.create = 1, .mode = mode, .initial_size = size, .chunk_size_hint = hint), path, mode,
        size, pe, hint, id)
OFFERED(nc_open, (const char* path, int mode, int* id), WORDS(.mode = mode), path, mode, id)
OFFERED(nc__open, (const char* path, int mode, size_t* hint, int* id),
        WORDS(.mode = mode, .chunk_size_hint = hint), path, mode, hint, id)
OFFERED(nc__open_mp, (const char* path, int mode, int pe, size_t* hint, int* id),
        WORDS(.mode = mode, .chunk_size_hint = hint), path, mode, pe, hint, id)
OFFERED(nc_create_par, (const char* path, int mode, uintptr_t comm, uintptr_t info, int* id),
        WORDS(.create = 1, .mode = mode, .kind = thalweg_c_comm, .comm = comm, .info = info), path,
        mode, comm, info, id)
OFFERED(nc_open_par, (const char* path, int mode, uintptr_t comm, uintptr_t info, int* id),
        WORDS(.mode = mode, .kind = thalweg_c_comm, .comm = comm, .info = info), path, mode, comm,
        info, id)
OFFERED(nc_create_par_fortran, (const char* path, int mode, int comm, int info, int* id),
        WORDS(.create = 1, .mode = mode, .kind = thalweg_fortran_comm, .comm = (unsigned)comm,
              .info = (unsigned)info),
        path, mode, comm, info, id)
OFFERED(nc_open_par_fortran, (const char* path, int mode, int comm, int info, int* id),
        WORDS(.mode = mode, .kind = thalweg_fortran_comm, .comm = (unsigned)comm,
              .info = (unsigned)info),
        path, mode, comm, info, id)

int nc_close(int id) {
    struct library* const library = library_of(CALLER);
    if (library == NULL || owner_of(library, id) == thalweg_not_taken) return PASS(nc_close, id);
    ++*thalweg_shim_depth();
    const int code = library->nc_close(id);
    /* netCDF keeps the id of a file that its table could not close, so free it. */
    if (code != 0 && owner_of(library, id) == thalweg_ended) library->nc_abort(id);
    --*thalweg_shim_depth();
    return code;
}

int nc_delete(const char* path) {
    struct library* const library = library_of(CALLER);
    if (library != NULL && *thalweg_shim_depth() == 0) prepare(library, path, 0, use_remove);
    /* nc_delete calls nc_open, which must not offer the file to the front. */
    ++*thalweg_shim_depth();
    const int code = PASS(nc_delete, path);
    --*thalweg_shim_depth();
    return code;
}

int nc_def_user_format(int mode, void* table, char* magic) {
    struct library* const library = library_of(CALLER);
    if (library != NULL && *thalweg_shim_depth() == 0) detach(library, mode);
    return PASS(nc_def_user_format, mode, table, magic);
}

int nc_var_par_access(int id, int variable, int access) {
    struct library* const library = library_of(CALLER);
    /* A serial library refuses the call before it asks the table, so answer the call here. */
    const struct thalweg_front* const f = library != NULL ? front_of(library) : NULL;
    const int code = f != NULL ? f->var_par_access(&library->shared, id, variable, access)
                               : thalweg_call_not_taken;
    if (code != thalweg_call_not_taken) return code;
    return PASS(nc_var_par_access, id, variable, access);
}
