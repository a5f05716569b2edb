/* Records every change of files with its content. The records of all processes have a common order.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * In the folder THALWEG_RECORD, all processes map the file "order", which has a counter of moments.
 * Each process appends what it changes to a file of its own: a struct entry, the paths and the
 * content. tests/faults/crash_log.py reads them.
 */
#define _GNU_SOURCE
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct entry {
    int64_t begin, end, inode, offset, bytes;
    int32_t what, path, other, unused; /* `enum change`; lengths of both paths */
};

static _Atomic int64_t* moments;
static int log_file = -1;

__attribute__((constructor(101))) static void begin_recording(void) {
    char path[PATH_MAX];
    const char* folder = getenv("THALWEG_RECORD");
    if (folder == NULL) return;
    snprintf(path, sizeof path, "%s/order", folder);
    const int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0 || syscall(SYS_ftruncate, fd, sizeof *moments) != 0) return;
    void* at =
        (void*)syscall(SYS_mmap, NULL, sizeof *moments, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    syscall(SYS_close, fd);
    if (at == MAP_FAILED) return;
    snprintf(path, sizeof path, "%s/log.%d", folder, (int)getpid());
    log_file =
        (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    moments = at;
}

int recording(void) { return log_file >= 0; }

long record_moment(void) { return recording() ? (long)atomic_fetch_add(moments, 1) : 0; }

void record_change(enum change what, long begin, int fd, const char* path, const char* other,
                   off_t offset, const struct iovec* pieces, int count, ssize_t bytes) {
    if (!recording()) return;
    const int error = errno;
    char own[PATH_MAX], name[40];
    struct stat info = {0};
    struct iovec all[IOV_MAX];
    if (fd >= 0) {
        snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
        const ssize_t n = readlink(name, own, sizeof own - 1);
        own[n < 0 ? 0 : n] = '\0';
        path = own;
        (void)fstat(fd, &info);
    } else if (what == RECORD_LENGTH) {
        (void)stat(path, &info);
    }
    if (pieces == NULL) bytes = 0;
    struct entry e = {
        begin, record_moment(), (int64_t)info.st_ino,  offset,
        bytes, (int32_t)what,   (int32_t)strlen(path), other == NULL ? 0 : (int32_t)strlen(other),
        0};
    int n = 0;
    all[n++] = (struct iovec){&e, sizeof e};
    all[n++] = (struct iovec){(void*)path, (size_t)e.path};
    all[n++] = (struct iovec){(void*)other, (size_t)e.other};
    for (int i = 0; i < count && bytes > 0 && n < IOV_MAX; ++i) {
        all[n] = pieces[i];
        if ((ssize_t)all[n].iov_len > bytes) all[n].iov_len = (size_t)bytes;
        bytes -= (ssize_t)all[n++].iov_len;
    }
    syscall(SYS_writev, log_file, all, n); /* a single appending write, so that entries of
                                            * several threads do not mix */
    errno = error;
}

void thalweg_record_mark(const char* text) {
    if (recording()) record_change(RECORD_MARK, record_moment(), -1, text, NULL, 0, NULL, 0, 0);
}
