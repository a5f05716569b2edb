/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "front.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy.h"

/* The build defines two texts: THALWEG_FRONT_NEEDS, the sonames of netCDF and HDF5 that the front
 * needs, and THALWEG_FRONT_MPI, the soname of its MPI. */

static __thread int depth;
static __thread struct thalweg_call* current;

int* thalweg_shim_depth(void) { return &depth; }

void set_call(struct thalweg_call* call) { current = call; }

static struct thalweg_call* current_call(void) { return current; }

static const struct thalweg_front* _Atomic loaded;
static _Atomic pid_t owner;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const struct thalweg_front* front(void) {
    return atomic_load_explicit(&loaded, memory_order_acquire);
}

const struct thalweg_front* front_of(const struct library* library) {
    return library->shared.index < thalweg_most_libraries ? front() : NULL;
}

enum thalweg_owner owner_of(const struct library* library, int id) {
    const struct thalweg_front* const f = front_of(library);
    return f == NULL ? thalweg_not_taken : f->owner(&library->shared, id);
}

int is_child(void) { return owner != 0 && owner != getpid(); }

/* Opens a library that is in the same folder as the shim. */
static void* open_beside(const char* name, int flags) {
    Dl_info self;
    char path[PATH_MAX];
    if (dladdr((const void*)&open_beside, &self) == 0) return NULL;
    const char* const slash = strrchr(self.dli_fname, '/');
    const int length = slash != NULL ? (int)(slash - self.dli_fname) : 0;
    const int written = snprintf(path, sizeof path, "%.*s%s%s", length, self.dli_fname,
                                 slash != NULL ? "/" : "", name);
    return written < (int)sizeof path ? dlopen(path, flags) : NULL;
}

/* Returns the flags for loading the front; -1 if it cannot be loaded. The front needs its own
 * netCDF, HDF5 and MPI; if the program has loaded other builds of them, these must not be found
 * first. */
static int loading_flags(void) {
    const int flags = RTLD_NOW | RTLD_LOCAL;
    if (!other_defines("H5open", THALWEG_FRONT_NEEDS) &&
        !other_defines("nc_create", THALWEG_FRONT_NEEDS) &&
        !other_defines("PMPI_Init", THALWEG_FRONT_MPI))
        return flags;
    if (dlsym(RTLD_DEFAULT, "__asan_init") == NULL) return flags | RTLD_DEEPBIND;
    tell_once("no file is taken: the program has another netCDF, HDF5 or MPI, and a sanitizer", "");
    return -1;
}

/* Reports that the front cannot be loaded. This may be so on one rank only: then it must not leave
 * a collective call to the program's library, in which the other ranks would wait for it forever.
 */
static void fail(int collective, const char* reason) {
    if (!collective) {
        tell_once("no file is taken:", reason);
        return;
    }
    fprintf(stderr, "thalweg: the program ends: %s\n", reason);
    abort();
}

/* Loads the front. The caller holds the lock. */
static void load(int collective) {
    static struct thalweg_shim shim;
    if (front() != NULL) return;
    shim = (struct thalweg_shim){thalweg_shim_interface,
                                 netcdf_choice() == netcdf_forward,
                                 thalweg_shim_depth,
                                 current_call,
                                 act,
                                 tells,
                                 pnetcdf_choice() == pnetcdf_forward,
                                 takes_pnetcdf,
#ifdef THALWEG_PNETCDF_NAMES
                                 real_pnetcdf
#else
                                 NULL
#endif
    };
    const int flags = loading_flags();
    if (flags == -1) return;
    const int before = loaded_objects();
    void* const handle = open_beside("libthalweg_fronts.so", flags);
    if (handle != NULL && (flags & RTLD_DEEPBIND) != 0) share_copied_objects(before);
    thalweg_front_begin_function* const begin =
        handle != NULL ? (thalweg_front_begin_function*)dlsym(handle, "thalweg_front_netcdf")
                       : NULL;
    if (begin == NULL) {
        const char* const error = dlerror();
        fail(collective, error != NULL ? error : "the path of the front's library is too long");
        return;
    }
    set_front((const void*)begin);
    const struct thalweg_front* const found = begin(&shim);
    if (found == NULL) {
        fail(collective, "libthalweg_shim.so and libthalweg_fronts.so are of different versions");
        return;
    }
    owner = getpid();
    loaded = found;
}

static int load_once(int collective) {
    if (front() == NULL) {
        pthread_mutex_lock(&lock);
        ++depth;
        load(collective);
        --depth;
        pthread_mutex_unlock(&lock);
    }
    return front() != NULL;
}

/* Tests if the front can use the program's communicators, and loads it if its MPI is the only
 * one that the program has loaded. runs: nonzero if that MPI must have been initialized. */
static int shares_mpi(int runs) {
    if (definer_of("PMPI_Init") != NULL && !other_defines("PMPI_Init", THALWEG_FRONT_MPI)) {
        if (!load_once(1)) return 0;
        if (!runs || front()->mpi_runs()) return 1;
    }
    tell_once("no file with a communicator is taken: the program does not run this build's MPI,",
              THALWEG_FRONT_MPI);
    return 0;
}

int attach(struct library* library, const struct thalweg_call* call) {
    if (library->refused || is_child()) return 0;
    if (call->kind != thalweg_no_comm ? !shares_mpi(1) : !load_once(0)) return 0;
    if (library->shared.slot != 0) return 1;
    pthread_mutex_lock(&lock);
    if (library->shared.slot == 0) {
        ++depth;
        const char* const reason = front()->attach(&library->shared);
        --depth;
        if (reason != NULL) {
            library->refused = 1;
            tell_once("no file of this netCDF library is taken:", reason);
        }
    }
    pthread_mutex_unlock(&lock);
    return !library->refused;
}

void decline(const struct thalweg_call* call) {
    if (front() != NULL && !is_child() && shares_mpi(1)) front()->decline(call);
}

const struct thalweg_front* front_for_pnetcdf(int opens) {
    return !is_child() && shares_mpi(opens) ? front() : NULL;
}

void detach(struct library* library, int mode) {
    const int slot = library->shared.slot;
    if (slot == 0 || (mode & thalweg_user_formats) != slot) return;
    library->shared.slot = 0;
    library->refused = 1;
    tell_once("no more files are taken: the program has registered a user-defined format", "");
}

/* Tests if there is no file at a path, but one that a killed run has left incomplete. */
static int is_incomplete(const char* path) {
    char part[PATH_MAX];
    if (path == NULL || access(path, F_OK) == 0) return 0;
    return snprintf(part, sizeof part, "%s.part", path) < (int)sizeof part &&
           access(part, F_OK) == 0;
}

int prepare(struct library* library, const char* path, int mode, int use) {
    if (path == NULL || is_child() || (mode & thalweg_user_formats) != 0) return 0;
    if (front() == NULL &&
        !(netcdf_choice() != netcdf_off && use == 1 && is_incomplete(path) && load_once(0)))
        return 0;
    ++depth;
    const int redirected = front()->prepare(path, mode, use);
    --depth;
    return redirected && library->shared.slot != 0;
}
