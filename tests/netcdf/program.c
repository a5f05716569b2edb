/* A program that is linked with netCDF, and writes files in the program and in a child process.
 * With shared objects as arguments, it loads them one by one, and lets each write files.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int write_files_function(const char* prefix);

static int load(const char* path, const char* prefix) {
    void* const object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    write_files_function* write = NULL;
    if (object == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    *(void**)&write = dlsym(object, "write_files");
    return write == NULL || write(prefix) != 0;
}

#ifdef LINKED
#include <netcdf.h>

write_files_function write_files;

/* Tests a file that is open while the process forks: the calls of the child must be refused, and
 * the parent's file must not change. */
static int fork_with_file(void) {
    int id = -1, other = -1, count = -1;
    printf("create: %d\n", nc_create("forked.nc", NC_CLOBBER, &id));
    printf("define: %d\n", nc_def_dim(id, "n", 4, &other));
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        int inherited = nc_inq_ndims(id, &count);
        printf("child: %d %d\n", inherited, count);
        printf("child: create %d\n", nc_create("child.nc", NC_CLOBBER, &other));
        printf("child: close %d\n", nc_close(other));
        fflush(stdout);
        _exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    printf("child ended: %d\n", status);
    printf("close: %d\n", nc_close(id));
    return status != 0;
}
#endif

int main(int count, char** words) {
    char prefix[] = "a";
    for (int i = 1; i < count; ++i, ++*prefix)
        if (load(words[i], prefix) != 0) return 1;
#ifdef LINKED
    return write_files("linked") != 0 || fork_with_file() != 0;
#else
    return 0;
#endif
}
