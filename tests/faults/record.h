/* Records every change of files with its content, in the order of all processes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef THALWEG_TESTS_FAULTS_RECORD_H
#define THALWEG_TESTS_FAULTS_RECORD_H

#include <sys/types.h>
#include <sys/uio.h>

enum change {
    RECORD_WRITE = 1,
    RECORD_LENGTH, /* offset: the new length */
    RECORD_EXTEND, /* offset: the least length */
    RECORD_SYNC,   /* of a file or folder */
    RECORD_CREATE, /* a name of a new file */
    RECORD_FOLDER, /* a name of a new folder */
    RECORD_RENAME, /* path to other */
    RECORD_LINK,   /* path to other */
    RECORD_REMOVE, /* a name of a file or folder */
    RECORD_MAPPED, /* shared and writable: its changes cannot be seen */
    RECORD_MARK    /* path: a text of the program */
};

/* Tests if this process records. */
int recording(void);

/* Tests if changes of this file are recorded. */
int recorded(int fd);
int recorded_path(const char* path);

/* Returns the next number in the order of all processes. Called before a change, and by
 * record_change after it. */
long record_moment(void);

/* Records a change that succeeded. Keeps errno.
 * path: of the file; for fd >= 0, the descriptor tells the file
 * pieces: content of a write, whose first `bytes` bytes were written */
void record_change(enum change what, long begin, int fd, const char* path, const char* other,
                   off_t offset, const struct iovec* pieces, int count, ssize_t bytes);

#endif
