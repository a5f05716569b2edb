/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "real.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Returns the loaded object that contains an address; null if there is none. */
static struct link_map* object_at(const void* address) {
    Dl_info info;
    struct link_map* map = NULL;
    if (address == NULL || dladdr1(address, &info, (void**)&map, RTLD_DL_LINKMAP) == 0) return NULL;
    return map;
}

static struct link_map* own_object(void) {
    static struct link_map* _Atomic own;
    if (own == NULL) own = object_at((const void*)&own_object);
    return own;
}

/* Returns the address of a name in an object or in the libraries that it needs; null if the name
 * belongs to the shim. */
static void* name_from(const struct link_map* map, const char* name) {
    void* const handle = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == NULL) return NULL;
    void* const found = dlsym(handle, name);
    dlclose(handle);
    return object_at(found) == own_object() ? NULL : found;
}

/* Returns the object of the process that follows `map`. Skips the shim, the program and the
 * kernel's page, none of which dlopen can open by a name. */
static struct link_map* next_object(struct link_map* map) {
    for (map = map->l_next; map != NULL; map = map->l_next)
        if (map != own_object() && strchr(map->l_name, '/') != NULL) return map;
    return NULL;
}

/* Returns the program: the first object. */
static struct link_map* first_object(void) {
    struct link_map* map = own_object();
    while (map->l_prev != NULL) map = map->l_prev;
    return map;
}

/* Returns the address of a name that an object itself defines; null if it does not. */
static void* defined_by(const struct link_map* map, const char* name) {
    void* const found = name_from(map, name);
    return found != NULL && object_at(found) == map ? found : NULL;
}

void* real_function(const void* caller, const char* name) {
    /* Look a name up in the order of the loader: first in the program and its libraries, then in
     * what the caller has loaded. */
    const struct link_map* const map = object_at(caller);
    void* found = dlsym(RTLD_NEXT, name);
    if (found == NULL && map != NULL && map != first_object() && map != own_object())
        found = name_from(map, name);
    for (struct link_map* o = first_object(); found == NULL && (o = next_object(o)) != NULL;)
        found = defined_by(o, name);
    return found;
}

static int defines(const struct link_map* map, const char* name) {
    if (map != first_object()) return defined_by(map, name) != NULL;
    void* const found = dlsym(RTLD_DEFAULT, name);
    return found != NULL && object_at(found) == map;
}

struct link_map* definer_of(const char* name) {
    if (defines(first_object(), name)) return first_object();
    for (struct link_map* o = first_object(); (o = next_object(o)) != NULL;)
        if (defines(o, name)) return o;
    return NULL;
}

int other_defines(const char* name, const char* sonames) {
    if (defines(first_object(), name)) return 1;
    for (struct link_map* o = first_object(); (o = next_object(o)) != NULL;)
        if (!soname_among(o, sonames) && defines(o, name)) return 1;
    return 0;
}

/* Returns the soname of an object; if it has none, the last component of its path. */
static const char* soname_of(const struct link_map* map) {
    const char* strings = NULL;
    ElfW(Xword) place = 0;
    for (const ElfW(Dyn)* d = map->l_ld; d->d_tag != DT_NULL; ++d) {
        if (d->d_tag == DT_STRTAB) strings = (const char*)d->d_un.d_ptr;
        if (d->d_tag == DT_SONAME) place = d->d_un.d_val;
    }
    if (strings != NULL && place != 0) return strings + place;
    const char* const slash = strrchr(map->l_name, '/');
    return slash != NULL ? slash + 1 : map->l_name;
}

int soname_among(const struct link_map* map, const char* sonames) {
    const char* const name = soname_of(map);
    const size_t length = strlen(name);
    for (const char* at = strstr(sonames, name); at != NULL; at = strstr(at + 1, name))
        if ((at == sonames || at[-1] == ':') && (at[length] == ':' || at[length] == '\0')) return 1;
    return 0;
}

/* Largest number of libraries that are recognized. Calls to further ones are passed on. */
enum { most_records = 32 };

/* The data of the shim must fit into one page, because every process of a job has a copy. */
static struct library* libraries[most_records];
static _Atomic int library_count;
static pthread_mutex_t library_lock = PTHREAD_MUTEX_INITIALIZER;

/* Returns the record of a library. Makes it if there is none and the list is not full. */
static struct library* record_of(struct link_map* map) {
    struct library* record = NULL;
    pthread_mutex_lock(&library_lock);
    for (int i = 0; i < library_count; ++i)
        if (libraries[i]->map == map) record = libraries[i];
    /* Keep the handle, so that the functions stay loaded. */
    void* const handle = record == NULL && library_count < most_records
                             ? dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD)
                             : NULL;
    if (handle != NULL) record = calloc(1, sizeof *record);
    if (record != NULL && handle != NULL) {
        record->shared = (struct thalweg_netcdf){handle, map->l_name, library_count, 0, 0};
        record->map = map;
        record->refused = library_count >= thalweg_most_libraries;
#define X(name, arguments) record->name = (int(*) arguments)dlsym(handle, #name);
        THALWEG_REAL_FUNCTIONS(X)
#undef X
        libraries[library_count++] = record;
    }
    pthread_mutex_unlock(&library_lock);
    return record;
}

/* The library whose function this thread has called last. */
static __thread struct library* acting;

static const struct link_map* _Atomic front_object;

void set_front(const void* address) { front_object = object_at(address); }

void act(struct thalweg_netcdf* library) { acting = libraries[library->index]; }

/* Finds the library that a caller would have reached. */
static struct library* look_up(const void* caller) {
    struct link_map* const map = object_at(real_function(caller, "nc_create"));
    return map != NULL ? record_of(map) : NULL;
}

/* Tests if a call seems to come from the shim or the front. A call by netCDF itself can do so: if a
 * function of netCDF calls another one as its last action (a tail call), the return address is that
 * of the first function's caller. */
static int is_own(const void* caller) {
    const struct link_map* const map = object_at(caller);
    return map != NULL && (map == own_object() || map == front_object);
}

struct library* library_of(const void* caller) {
    /* Size of the cache of callers: each place in the program that calls netCDF is looked up once.
     */
    enum { places = 64 };
    static struct {
        const void* _Atomic caller;
        struct library* _Atomic library;
    } known[places];
    const size_t place = ((uintptr_t)caller ^ (uintptr_t)caller >> 8) % places;
    struct library* library = known[place].library;
    if (known[place].caller != caller || library == NULL || known[place].library != library) {
        if (acting != NULL && is_own(caller)) return acting;
        library = look_up(caller);
        known[place].caller = NULL;
        known[place].library = library;
        known[place].caller = caller;
    }
    acting = library;
    return library;
}
