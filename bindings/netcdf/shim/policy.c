/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "policy.h"

#include <fnmatch.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "real.h"

static const char* setting(const char* name) {
    const char* const value = getenv(name);
    return value != NULL && *value != '\0' ? value : NULL;
}

/* Returns the number of a setting's value in a list whose first value is "off"; the last value
 * stands also for a setting that is not set. */
static int choice(const char* name, const char* const* values, int n, const char* error) {
    const char* const value = setting(name);
    if (value == NULL) return n - 1;
    for (int i = 0; i < n; ++i)
        if (strcmp(value, values[i]) == 0) return i;
    tell_once(error, value);
    return 0;
}

enum netcdf_choice netcdf_choice(void) {
    static const char* const values[] = {"off", "all", "forward", "parallel"};
    return choice("THALWEG_NETCDF", values, 4,
                  "no file is taken: THALWEG_NETCDF is parallel, all, forward or off, not");
}

enum pnetcdf_choice pnetcdf_choice(void) {
    static const char* const values[] = {"off", "forward", "on"};
    return choice("THALWEG_PNETCDF", values, 3,
                  "no file of PnetCDF is taken: THALWEG_PNETCDF is on, forward or off, not");
}

int tells(void) {
    static const char* const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                        "SLURM_PROCID"};
    const char* const value = setting("THALWEG_TELL");
    if (value != NULL && strcmp(value, "no") == 0) return 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        const char* const rank = setting(names[i]);
        if (rank != NULL) return strcmp(rank, "0") == 0;
    }
    return 1;
}

void tell_once(const char* reason, const char* detail) {
    enum { most = 16 };
    static const char* _Atomic told[most];
    for (int i = 0; i < most; ++i) {
        const char* none = NULL;
        if (told[i] == reason) return;
        if (atomic_compare_exchange_strong(&told[i], &none, reason)) break;
        if (none == reason) return;
    }
    if (tells()) fprintf(stderr, "thalweg: %s%s%s\n", reason, *detail != '\0' ? " " : "", detail);
}

/* Tests if a path, or its last component, matches one of the patterns in a list separated by
 * colons. A colon after a backslash belongs to a pattern. */
static int among(const char* globs, const char* path) {
    const char* const slash = strrchr(path, '/');
    const char* const name = slash != NULL ? slash + 1 : path;
    while (*globs != '\0') {
        size_t length = strcspn(globs, "\\:");
        while (globs[length] == '\\' && globs[length + 1] != '\0')
            length += 2 + strcspn(globs + length + 2, "\\:");
        length += globs[length] == '\\';
        char glob[4096];
        if (length > 0 && length < sizeof glob) {
            memcpy(glob, globs, length);
            glob[length] = '\0';
            if (fnmatch(glob, path, 0) == 0 || fnmatch(glob, name, 0) == 0) return 1;
        }
        globs += length + (globs[length] == ':');
    }
    return 0;
}

static int chosen(const char* path) {
    const char* const only = setting("THALWEG_ONLY");
    const char* const skip = setting("THALWEG_SKIP");
    return (only == NULL || among(only, path)) && (skip == NULL || !among(skip, path));
}

/* Tests if a path can be that of a file in a file system. */
static int is_plain(const char* path) {
    path += strspn(path, " \t");
    return *path != '\0' && strstr(path, "://") == NULL && strchr(path, '#') == NULL &&
           *path != '[';
}

/* Tests if a path leads to a Zarr store, which only Thalweg can read. */
static int is_store(const char* path) {
    struct stat found;
    char name[4096];
    const int length = snprintf(name, sizeof name, "%s/zarr.json", path + strspn(path, " \t"));
    return length < (int)sizeof name && stat(name, &found) == 0;
}

/* Tests if a path leads to a regular file, or to a file that does not exist yet. */
static int ordinary(const char* path) {
    struct stat found;
    path += strspn(path, " \t");
    return stat(path, &found) != 0 || S_ISREG(found.st_mode);
}

static int formats(int mode) {
    return ((mode & thalweg_cdf5) != 0) + ((mode & thalweg_cdf2) != 0) +
           ((mode & thalweg_netcdf4) != 0);
}

int takes(const struct thalweg_call* call, const char* path) {
    const enum netcdf_choice choice = netcdf_choice();
    const int serial = call->kind == thalweg_no_comm;
    const int opens_store = !call->create && path != NULL && is_store(path);
    if (choice == netcdf_off) return 0;
    if (serial && !opens_store &&
        (choice == netcdf_parallel || (!call->create && choice != netcdf_forward)))
        return 0;
    if (call->mode & thalweg_elsewhere) return 0;
    if (serial && (call->mode & thalweg_share)) return 0;
    /* Pass the call on, because netCDF must see that it asks for two formats at once, and refuse
     * it. */
    if (formats(call->mode) > 1) return 0;
    /* For a file of several ranks, the first one looks later if it is an ordinary one. */
    return path != NULL && is_plain(path) && (!serial || opens_store || ordinary(path)) &&
           chosen(path + strspn(path, " \t"));
}

/* Tests if the process has a PnetCDF to which a file can be left. It has none if the program was
 * linked with libthalweg_pnetcdf before a static PnetCDF, and Thalweg was built without PnetCDF. */
static int has_pnetcdf(void) {
#ifdef THALWEG_PNETCDF_NAMES
    return real_pnetcdf("ncmpi_open") != NULL;
#else
    return 0;
#endif
}

int takes_pnetcdf(const char* path, int mode) {
    const char* const safe = getenv("PNETCDF_SAFE_MODE"); /* PnetCDF compares ranks' arguments */
    const int leave = (safe != NULL && *safe != '0') || path == NULL || !chosen(path);
    if (leave && has_pnetcdf()) return 0;
    if (mode & (thalweg_elsewhere | thalweg_netcdf4)) return 0;
    return formats(mode) <= 1 && path != NULL && is_plain(path) && ordinary(path);
}
