/* Faults of the operating system, for tests: a library to preload (LD_PRELOAD).
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * It counts, in every process, the calls that write, resize, sync, rename or close a file whose
 * path contains a given text (or those that read it), and makes the n-th of them fail. The
 * environment selects the fault; a program that makes many runs in one process selects it by the
 * functions below.
 *
 *   THALWEG_FAULT_PATH   text that the file's path contains; without it nothing is counted
 *   THALWEG_FAULT_AT     N: the N-th counted call; N+: that and all later ones; every
 *   THALWEG_FAULT_KIND   eio | enospc | edquot | short | eintr | kill | delay:MICROSECONDS; with
 *                        "read-" before it, reads are meant, and else nothing
 *   THALWEG_FAULT_RANK   rank whose process is meant (OMPI_COMM_WORLD_RANK, PMI_RANK), or all (the
 *                        default)
 *   THALWEG_FAULT_COUNT  file to which every process appends a line at exit: its rank, the number
 *                        of counted calls, how many went wrong, and the first that did
 *   THALWEG_RECORD       folder that receives all changes of these files, with their content, for
 *                        tests of lost power (record.c)
 *
 * A short write or read moves half of its bytes. Only writes and reads can be short. The kind eintr
 * does not apply to rename, which is never interrupted, nor to close, which is never repeated. If
 * the kind does not apply to a call, nothing happens. A close is counted only if the file was
 * written through the same descriptor, because it can report no other loss of data. A close that
 * fails has closed the descriptor.
 *
 * Any thread may make the calls. The library makes system calls directly, so it need not find the
 * functions that it hides.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "record.h"

enum kind { NONE, EIO_KIND, ENOSPC_KIND, EDQUOT_KIND, SHORT, EINTR_KIND, DELAY, KILL };
enum call { WRITE, SIZE, SYNC, RENAME, CLOSE, READ };

static struct {
    char path[PATH_MAX];
    long from, to; /* range of the numbers of the calls that fail */
    enum kind kind;
    long delay; /* time by which calls are delayed, in microseconds */
    int reads;  /* reads fail instead of writes */
} plan;

static atomic_bool armed;
static atomic_long calls, fired;
static atomic_flag first_taken = ATOMIC_FLAG_INIT;
static char first[PATH_MAX + 100]; /* description of the first call that failed */
static atomic_bool written[4096];  /* nonzero for each descriptor to which the process has
                                    * written */

/* ---- the requested fault ------------------------------------------------------------------- */

/* Starts to count from 0. No counted call may be running. A NULL or empty path ends counting. */
void thalweg_fault_arm(const char* path, const char* at, const char* kind) {
    atomic_store(&armed, 0);
    atomic_store(&calls, 0);
    atomic_store(&fired, 0);
    atomic_flag_clear(&first_taken);
    first[0] = '\0';
    if (path == NULL || *path == '\0') return;
    snprintf(plan.path, sizeof plan.path, "%s", path);
    plan.from = 0;
    plan.to = -1;
    if (at != NULL && strcmp(at, "every") == 0) {
        plan.from = 1;
        plan.to = LONG_MAX;
    } else if (at != NULL && *at != '\0') {
        char* end;
        plan.from = plan.to = strtol(at, &end, 10);
        if (*end == '+') plan.to = LONG_MAX;
    }
    plan.kind = NONE;
    if (kind == NULL) kind = "";
    plan.reads = strncmp(kind, "read-", 5) == 0;
    if (plan.reads) kind += 5;
    if (strcmp(kind, "eio") == 0) plan.kind = EIO_KIND;
    if (strcmp(kind, "enospc") == 0) plan.kind = ENOSPC_KIND;
    if (strcmp(kind, "edquot") == 0) plan.kind = EDQUOT_KIND;
    if (strcmp(kind, "short") == 0) plan.kind = SHORT;
    if (strcmp(kind, "eintr") == 0) plan.kind = EINTR_KIND;
    if (strcmp(kind, "kill") == 0) plan.kind = KILL;
    if (strncmp(kind, "delay:", 6) == 0) {
        plan.kind = DELAY;
        plan.delay = strtol(kind + 6, NULL, 10);
    }
    atomic_store(&armed, 1);
}

long thalweg_fault_calls(void) { return atomic_load(&calls); }

/* Returns the number of faults; `text` receives the first: "CALL OFFSET BYTES PATH". */
long thalweg_fault_fired(char* text, size_t length) {
    if (text != NULL) snprintf(text, length, "%s", first);
    return atomic_load(&fired);
}

static const char* own_rank(void) {
    const char* rank = getenv("OMPI_COMM_WORLD_RANK");
    if (rank == NULL) rank = getenv("PMI_RANK"); /* MPICH sets this variable */
    return rank == NULL ? "0" : rank;
}

__attribute__((constructor)) static void begin(void) {
    const char* at = getenv("THALWEG_FAULT_AT");
    const char* rank = getenv("THALWEG_FAULT_RANK");
    if (rank != NULL && strcmp(rank, "all") != 0 && strcmp(rank, own_rank()) != 0) at = NULL;
    thalweg_fault_arm(getenv("THALWEG_FAULT_PATH"), at, getenv("THALWEG_FAULT_KIND"));
}

__attribute__((destructor)) static void end(void) {
    const char* file = getenv("THALWEG_FAULT_COUNT");
    char line[sizeof first + 100];
    if (file == NULL || !atomic_load(&armed)) return;
    atomic_store(&armed, 0);
    int length = snprintf(line, sizeof line, "rank %s calls %ld fired %ld %s\n", own_rank(),
                          atomic_load(&calls), atomic_load(&fired), first);
    int fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0) return;
    syscall(SYS_write, fd, line, (size_t)length);
    syscall(SYS_close, fd);
}

/* ---- counting calls ------------------------------------------------------------------------- */

/* Tests if calls on a path are counted. Those on lock files are not, because their contents are
 * only information. */
static int meant_path(const char* path) {
    const size_t n = strlen(path);
    return strstr(path, plan.path) != NULL && (n < 5 || strcmp(path + n - 5, ".lock") != 0);
}

/* Tests if calls on the file of a descriptor are counted. `path` receives its path. */
static int meant(int fd, char* path) {
    char name[40];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(name, path, PATH_MAX - 1);
    if (n < 0) return 0;
    path[n] = '\0';
    return meant_path(path);
}

/* Counts a call and decides what happens to it. */
static enum kind count(const char* name, enum call call, const char* path, long offset,
                       size_t bytes) {
    long n = atomic_fetch_add(&calls, 1) + 1;
    if (n < plan.from || n > plan.to) return NONE;
    if (plan.kind == SHORT && ((call != WRITE && call != READ) || bytes < 2)) return NONE;
    if (plan.kind == EINTR_KIND && (call == RENAME || call == CLOSE)) return NONE;
    atomic_fetch_add(&fired, 1);
    if (!atomic_flag_test_and_set(&first_taken))
        snprintf(first, sizeof first, "%s %ld %zu %s", name, offset, bytes, path);
    if (plan.kind == KILL) kill(getpid(), SIGKILL);
    if (plan.kind == DELAY) {
        struct timespec pause = {plan.delay / 1000000, plan.delay % 1000000 * 1000};
        while (nanosleep(&pause, &pause) != 0 && errno == EINTR) {
        }
    }
    return plan.kind;
}

static int error_of(enum kind kind) {
    switch (kind) {
        case EIO_KIND: return EIO;
        case ENOSPC_KIND: return ENOSPC;
        case EDQUOT_KIND: return EDQUOT;
        case EINTR_KIND: return EINTR;
        default: return 0;
    }
}

/* Decides if a call on a descriptor fails. Returns 0, or the error. */
static int fault(const char* name, enum call call, int fd, long offset, size_t* bytes) {
    char path[PATH_MAX];
    if (!atomic_load(&armed) || plan.reads != (call == READ) || !meant(fd, path)) return 0;
    if (call == WRITE && fd >= 0 && fd < (int)(sizeof written / sizeof *written))
        atomic_store(&written[fd], 1);
    const enum kind kind = count(name, call, path, offset, bytes == NULL ? 0 : *bytes);
    if (kind == SHORT && bytes != NULL) *bytes /= 2;
    return error_of(kind);
}

int recorded(int fd) {
    char path[PATH_MAX];
    return recording() && atomic_load(&armed) && meant(fd, path);
}
int recorded_path(const char* path) {
    return recording() && atomic_load(&armed) && meant_path(path);
}

static void record_write(int fd, const void* data, ssize_t n, off_t offset, long moment) {
    const struct iovec one = {(void*)data, n < 0 ? 0 : (size_t)n};
    if (n > 0 && recorded(fd))
        record_change(RECORD_WRITE, moment, fd, NULL, NULL, offset, &one, 1, n);
}

#define FAIL_IF(error)                                                                             \
    do {                                                                                           \
        int error_ = (error);                                                                      \
        if (error_ != 0) {                                                                         \
            errno = error_;                                                                        \
            return -1;                                                                             \
        }                                                                                          \
    } while (0)

/* ---- writes -------------------------------------------------------------------------------- */

static ssize_t at_offset(const char* name, int fd, const void* data, size_t bytes, off_t offset) {
    FAIL_IF(fault(name, WRITE, fd, offset, &bytes));
    const long moment = record_moment();
    const ssize_t n = syscall(SYS_pwrite64, fd, data, bytes, offset);
    record_write(fd, data, n, offset, moment);
    return n;
}

ssize_t pwrite(int fd, const void* data, size_t bytes, off_t offset) {
    return at_offset("pwrite", fd, data, bytes, offset);
}
ssize_t pwrite64(int fd, const void* data, size_t bytes, off64_t offset) {
    return at_offset("pwrite", fd, data, bytes, offset);
}

ssize_t write(int fd, const void* data, size_t bytes) {
    if (!atomic_load(&armed)) return syscall(SYS_write, fd, data, bytes);
    const long at = lseek(fd, 0, SEEK_CUR);
    FAIL_IF(fault("write", WRITE, fd, at, &bytes));
    const long moment = record_moment();
    const ssize_t n = syscall(SYS_write, fd, data, bytes);
    record_write(fd, data, n, at, moment);
    return n;
}

/* Writes the first `bytes` bytes of the pieces by a call of the same kind as the program's. */
static ssize_t pieces(const char* name, int fd, const struct iovec* vector, int n, off_t offset) {
    size_t total = 0;
    for (int i = 0; i < n; ++i) total += vector[i].iov_len;
    const off_t at = offset >= 0 ? offset : lseek(fd, 0, SEEK_CUR);
    size_t bytes = total;
    FAIL_IF(fault(name, WRITE, fd, at, &bytes));
    struct iovec less[IOV_MAX];
    if (bytes < total && n <= IOV_MAX) {
        size_t left = bytes;
        int kept = 0;
        for (; kept < n && left > 0; ++kept) {
            less[kept] = vector[kept];
            if (less[kept].iov_len > left) less[kept].iov_len = left;
            left -= less[kept].iov_len;
        }
        vector = less;
        n = kept;
    }
    const long moment = record_moment();
    const ssize_t done = offset < 0 ? syscall(SYS_writev, fd, vector, n)
                                    : syscall(SYS_pwritev, fd, vector, n, offset, 0);
    if (done > 0 && recorded(fd))
        record_change(RECORD_WRITE, moment, fd, NULL, NULL, at, vector, n, done);
    return done;
}

ssize_t writev(int fd, const struct iovec* vector, int n) {
    return pieces("writev", fd, vector, n, -1);
}
ssize_t pwritev(int fd, const struct iovec* vector, int n, off_t offset) {
    return pieces("pwritev", fd, vector, n, offset);
}
ssize_t pwritev64(int fd, const struct iovec* vector, int n, off64_t offset) {
    return pieces("pwritev", fd, vector, n, offset);
}

/* ---- reads --------------------------------------------------------------------------------- */

static ssize_t from_offset(const char* name, int fd, void* data, size_t bytes, off_t offset) {
    FAIL_IF(fault(name, READ, fd, offset, &bytes));
    return syscall(SYS_pread64, fd, data, bytes, offset);
}

ssize_t pread(int fd, void* data, size_t bytes, off_t offset) {
    return from_offset("pread", fd, data, bytes, offset);
}
ssize_t pread64(int fd, void* data, size_t bytes, off64_t offset) {
    return from_offset("pread", fd, data, bytes, offset);
}

ssize_t read(int fd, void* data, size_t bytes) {
    if (atomic_load(&armed)) FAIL_IF(fault("read", READ, fd, lseek(fd, 0, SEEK_CUR), &bytes));
    return syscall(SYS_read, fd, data, bytes);
}

/* ---- sizes --------------------------------------------------------------------------------- */

static int cut(int fd, off_t length) {
    FAIL_IF(fault("ftruncate", SIZE, fd, length, NULL));
    const long moment = record_moment();
    const int result = (int)syscall(SYS_ftruncate, fd, length);
    if (result == 0 && recorded(fd))
        record_change(RECORD_LENGTH, moment, fd, NULL, NULL, length, NULL, 0, 0);
    return result;
}
int ftruncate(int fd, off_t length) { return cut(fd, length); }
int ftruncate64(int fd, off64_t length) { return cut(fd, length); }

static int cut_path(const char* path, off_t length) {
    if (atomic_load(&armed) && !plan.reads && meant_path(path))
        FAIL_IF(error_of(count("truncate", SIZE, path, length, 0)));
    const long moment = record_moment();
    const int result = (int)syscall(SYS_truncate, path, length);
    if (result == 0 && recorded_path(path))
        record_change(RECORD_LENGTH, moment, -1, path, NULL, length, NULL, 0, 0);
    return result;
}
int truncate(const char* path, off_t length) { return cut_path(path, length); }
int truncate64(const char* path, off64_t length) { return cut_path(path, length); }

static int allocate(int fd, int mode, off_t offset, off_t length) {
    FAIL_IF(fault("fallocate", SIZE, fd, offset, NULL));
    const long moment = record_moment();
    const int result = (int)syscall(SYS_fallocate, fd, mode, offset, length);
    if (result == 0 && mode == 0 && recorded(fd))
        record_change(RECORD_EXTEND, moment, fd, NULL, NULL, offset + length, NULL, 0, 0);
    return result;
}
int fallocate(int fd, int mode, off_t offset, off_t length) {
    return allocate(fd, mode, offset, length);
}
int fallocate64(int fd, int mode, off64_t offset, off64_t length) {
    return allocate(fd, mode, offset, length);
}
/* Returns the error, as the original function does, instead of setting errno. */
int posix_fallocate(int fd, off_t offset, off_t length) {
    return allocate(fd, 0, offset, length) == 0 ? 0 : errno;
}
int posix_fallocate64(int fd, off64_t offset, off64_t length) {
    return allocate(fd, 0, offset, length) == 0 ? 0 : errno;
}

/* ---- the rest ------------------------------------------------------------------------------ */

int fdatasync(int fd) {
    FAIL_IF(fault("fdatasync", SYNC, fd, 0, NULL));
    const long moment = record_moment();
    const int result = (int)syscall(SYS_fdatasync, fd);
    if (result == 0 && recorded(fd))
        record_change(RECORD_SYNC, moment, fd, NULL, NULL, 0, NULL, 0, 0);
    return result;
}

int fsync(int fd) {
    FAIL_IF(fault("fsync", SYNC, fd, 0, NULL));
    const long moment = record_moment();
    const int result = (int)syscall(SYS_fsync, fd);
    if (result == 0 && recorded(fd))
        record_change(RECORD_SYNC, moment, fd, NULL, NULL, 0, NULL, 0, 0);
    return result;
}

int rename(const char* from, const char* to) {
    if (atomic_load(&armed) && !plan.reads && meant_path(to))
        FAIL_IF(error_of(count("rename", RENAME, to, 0, 0)));
    const long moment = record_moment();
    const int result = (int)syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
    if (result == 0 && recorded_path(to))
        record_change(RECORD_RENAME, moment, -1, from, to, 0, NULL, 0, 0);
    return result;
}

int close(int fd) {
    int error = 0;
    if (fd >= 0 && fd < (int)(sizeof written / sizeof *written) && atomic_exchange(&written[fd], 0))
        error = fault("close", CLOSE, fd, 0, NULL);
    const int result = (int)syscall(SYS_close, fd);
    FAIL_IF(error);
    return result;
}
