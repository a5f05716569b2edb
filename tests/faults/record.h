/* Records every change of files with its content. The records of all processes have a common order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

enum change {
    RECORD_WRITE = 1,
    RECORD_LENGTH, /* offset: the new length of the file */
    RECORD_EXTEND, /* offset: the smallest new length of the file */
    RECORD_SYNC,   /* sync of a file or folder */
    RECORD_CREATE, /* a new file gets this name */
    RECORD_FOLDER, /* a new folder gets this name */
    RECORD_RENAME, /* path is renamed to other */
    RECORD_LINK,   /* other becomes a second name of path */
    RECORD_REMOVE, /* a name of a file or folder is removed */
    RECORD_MAPPED, /* shared, writable mapping, whose changes are not recorded */
    RECORD_MARK    /* path is a text that the program records */
};

/* Tests if this process records its changes. */
int recording(void);

/* Tests if changes of a file are recorded. */
int recorded(int fd);
int recorded_path(const char* path);

/* Returns the next number in the order of events of all processes. The caller takes one before a
 * change; record_change takes another one after it. */
long record_moment(void);

/* Records a change that has succeeded. Does not change errno. `path` is that of the file, unless
 * fd >= 0. `pieces` is the content of a write, of which the first `bytes` bytes were written. */
void record_change(enum change what, long begin, int fd, const char* path, const char* other,
                   off_t offset, const struct iovec* pieces, int count, ssize_t bytes);
