/* Records new names, changes of names, and mapped files.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record.h"

static int open_at(int folder, const char* path, int flags, mode_t mode) {
    const long moment = record_moment();
    struct stat before;
    const int record =
        (flags & (O_CREAT | O_TRUNC)) != 0 && folder == AT_FDCWD && recorded_path(path);
    const int is_new = record && stat(path, &before) != 0;
    const int fd = (int)syscall(SYS_openat, folder, path, flags, mode);
    if (fd < 0 || !record) return fd;
    if (is_new)
        record_change(RECORD_CREATE, moment, fd, NULL, NULL, 0, NULL, 0, 0);
    else if ((flags & O_TRUNC) != 0)
        record_change(RECORD_LENGTH, moment, fd, NULL, NULL, 0, NULL, 0, 0);
    return fd;
}

#define TAKE_MODE(flags)                                                                           \
    mode_t mode = 0;                                                                               \
    if (((flags) & (O_CREAT | O_TMPFILE)) != 0) {                                                  \
        va_list rest;                                                                              \
        va_start(rest, flags);                                                                     \
        mode = va_arg(rest, mode_t);                                                               \
        va_end(rest);                                                                              \
    }

int open(const char* path, int flags, ...) {
    TAKE_MODE(flags)
    return open_at(AT_FDCWD, path, flags, mode);
}
int open64(const char* path, int flags, ...) {
    TAKE_MODE(flags)
    return open_at(AT_FDCWD, path, flags | O_LARGEFILE, mode);
}
int openat(int folder, const char* path, int flags, ...) {
    TAKE_MODE(flags)
    return open_at(folder, path, flags, mode);
}
int openat64(int folder, const char* path, int flags, ...) {
    TAKE_MODE(flags)
    return open_at(folder, path, flags | O_LARGEFILE, mode);
}
int creat(const char* path, mode_t mode) {
    return open_at(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}
int creat64(const char* path, mode_t mode) {
    return open_at(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC | O_LARGEFILE, mode);
}

static int name_changed(enum change what, int result, const char* path, const char* other,
                        long moment) {
    if (result == 0 && recorded_path(path))
        record_change(what, moment, -1, path, other, 0, NULL, 0, 0);
    return result;
}

int link(const char* from, const char* to) {
    const long moment = record_moment();
    const int result = (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
    return name_changed(RECORD_LINK, result, from, to, moment);
}
int unlink(const char* path) {
    const long moment = record_moment();
    const int result = (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    return name_changed(RECORD_REMOVE, result, path, NULL, moment);
}
int rmdir(const char* path) {
    const long moment = record_moment();
    const int result = (int)syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
    return name_changed(RECORD_REMOVE, result, path, NULL, moment);
}
int mkdir(const char* path, mode_t mode) {
    const long moment = record_moment();
    const int result = (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
    return name_changed(RECORD_FOLDER, result, path, NULL, moment);
}

static void* map(void* at, size_t length, int protection, int flags, int fd, off_t offset) {
    const long moment = record_moment();
    void* const made =
        (void*)syscall(SYS_mmap, at, length, protection, flags, fd, offset); /* NOLINT */
    if (fd >= 0 && (flags & MAP_SHARED) != 0 && (protection & PROT_WRITE) != 0 && recorded(fd))
        record_change(RECORD_MAPPED, moment, fd, NULL, NULL, offset, NULL, 0, 0);
    return made;
}
void* mmap(void* at, size_t length, int protection, int flags, int fd, off_t offset) {
    return map(at, length, protection, flags, fd, offset);
}
void* mmap64(void* at, size_t length, int protection, int flags, int fd, off64_t offset) {
    return map(at, length, protection, flags, fd, offset);
}
