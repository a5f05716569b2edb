/* A program without MPI whose files the engine writes. Each byte is written once; the files have
 * their final name from the start, and are complete after nc_close, and also after an exit without
 * it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int failures, mode;

#define EXPECT(wanted, call) expect(wanted, call, #call, __LINE__)
static void expect(long wanted, long got, const char* what, int line) {
    if (wanted == got) return;
    failures++;
    fprintf(stderr, "mode 0x%x, line %d: %s is %ld, not %ld\n", mode, line, what, got, wanted);
}

enum { levels = 4, n = 1000, records = 3 };
static int id, dims[3], time_id, x_id, fixed_id;

static float value(size_t record, int level, int i) {
    return (float)(1000 * record + 10 * i + level);
}

static void define(const char* path) {
    EXPECT(0, nc_create(path, NC_CLOBBER | mode, &id));
    EXPECT(0, nc_def_dim(id, "time", NC_UNLIMITED, &dims[0]));
    EXPECT(0, nc_def_dim(id, "level", levels, &dims[1]));
    EXPECT(0, nc_def_dim(id, "n", n, &dims[2]));
    EXPECT(0, nc_def_var(id, "time", NC_DOUBLE, 1, dims, &time_id));
    EXPECT(0, nc_def_var(id, "x", NC_FLOAT, 3, dims, &x_id));
    EXPECT(0, nc_def_var(id, "fixed", NC_INT, 1, &dims[2], &fixed_id));
    EXPECT(0, nc_put_att_text(id, x_id, "units", 1, "m"));
    if (mode & NC_NETCDF4) EXPECT(0, nc_def_var_deflate(id, x_id, 1, 1, 1));
    EXPECT(0, nc_enddef(id));
}

/* Puts a record level by level, as a root does that has gathered it. */
static void put(size_t record) {
    const double t = (double)record;
    float row[n];
    EXPECT(0, nc_put_var1_double(id, time_id, &record, &t));
    for (int level = 0; level < levels; level++) {
        const size_t start[] = {record, (size_t)level, 0}, count[] = {1, 1, n};
        for (int i = 0; i < n; i++) row[i] = value(record, level, i);
        EXPECT(0, nc_put_vara_float(id, x_id, start, count, row));
    }
}

static long wrong_values(int ncid, size_t wanted) {
    size_t length = 0;
    EXPECT(0, nc_inq_dimlen(ncid, dims[0], &length));
    EXPECT((long)wanted, (long)length);
    float* const all = malloc(length * levels * n * sizeof *all);
    long wrong = 0;
    EXPECT(0, nc_get_var_float(ncid, x_id, all));
    for (size_t r = 0; r < length; r++)
        for (int level = 0; level < levels; level++)
            for (int i = 0; i < n; i++)
                wrong += all[(r * levels + (size_t)level) * n + (size_t)i] != value(r, level, i);
    free(all);
    return wrong;
}

static void files(void) {
    int other = 0, fixed[n] = {0};
    define("serial.nc");
    EXPECT(0, access("serial.nc", F_OK));
    for (size_t r = 0; r < records; r++) put(r);
    EXPECT(0, wrong_values(id, records));
    EXPECT(0, nc_get_var_int(id, fixed_id, fixed));
    EXPECT(NC_FILL_INT, fixed[n - 1]);
    put(records);
    /* The data are visible through a second id in the same process. */
    EXPECT(0, nc_open("serial.nc", NC_NOWRITE, &other));
    EXPECT(0, wrong_values(other, records + 1));
    EXPECT(0, nc_close(other));
    EXPECT(NC_EPERM, nc_open("serial.nc", NC_WRITE, &other));
    put(records + 1);
    EXPECT(0, nc_sync(id));
    EXPECT(0, nc_close(id));
    EXPECT(NC_EBADID, nc_close(id));
    EXPECT(0, nc_open("./serial.nc", NC_NOWRITE, &other));
    EXPECT(0, wrong_values(other, records + 2));
    EXPECT(0, nc_close(other));
    /* The file is continued by netCDF-C. */
    EXPECT(0, nc_open("serial.nc", NC_WRITE, &id));
    put(records + 2);
    EXPECT(0, wrong_values(id, records + 3));
    EXPECT(0, nc_close(id));
    EXPECT(NC_EEXIST, nc_create("serial.nc", NC_NOCLOBBER | mode, &id));
    EXPECT(0, nc_delete("serial.nc"));
}

static long long bytes(const char* key) {
    char line[256];
    long long found = -1;
    FILE* const io = fopen("/proc/self/io", "r");
    while (io != NULL && fgets(line, sizeof line, io) != NULL)
        if (strncmp(line, key, strlen(key)) == 0) found = atoll(line + strlen(key));
    if (io != NULL) fclose(io);
    return found;
}

/* Tests that each byte is written once, and that none is read. If netCDF filled the variable first,
 * each byte would be written twice and read once. */
static void once(void) {
    enum { wide = 1 << 20, many = 16 };
    static float row[wide];
    int file = 0, d[2], x = 0;
    if (mode & NC_NETCDF4 || bytes("wchar:") < 0) return;
    EXPECT(0, nc_create("once.nc", NC_CLOBBER | mode, &file));
    EXPECT(0, nc_def_dim(file, "t", NC_UNLIMITED, &d[0]));
    EXPECT(0, nc_def_dim(file, "n", wide, &d[1]));
    EXPECT(0, nc_def_var(file, "x", NC_FLOAT, 2, d, &x));
    EXPECT(0, nc_enddef(file));
    const long long read = bytes("rchar:"), written = bytes("wchar:");
    for (size_t r = 0; r < many; r++)
        for (size_t part = 0; part < 4; part++) {
            const size_t start[] = {r, part * (wide / 4)}, count[] = {1, wide / 4};
            EXPECT(0, nc_put_vara_float(file, x, start, count, row));
        }
    EXPECT(0, nc_close(file));
    const long long size = (long long)many * wide * (long long)sizeof *row;
    EXPECT(1, bytes("wchar:") - written < size + size / 10);
    EXPECT(1, bytes("rchar:") - read < size / 10);
    EXPECT(0, unlink("once.nc"));
}

/* Tests the file of a child process that has no file of its parent, and that exits without closing
 * the file. */
static void unclosed(const char* program) {
    char text[32];
    int status = -1, other = 0;
    snprintf(text, sizeof text, "%d", mode);
    const pid_t child = fork();
    if (child == 0) {
        execl(program, program, "unclosed", text, (char*)NULL);
        _exit(127);
    }
    EXPECT(child, waitpid(child, &status, 0));
    EXPECT(0, status);
    EXPECT(0, nc_open("unclosed.nc", NC_NOWRITE, &other));
    EXPECT(0, wrong_values(other, records));
    EXPECT(0, nc_close(other));
    EXPECT(0, unlink("unclosed.nc"));
}

int main(int argc, char** argv) {
    const int modes[] = {0, NC_64BIT_OFFSET, NC_64BIT_DATA, NC_NETCDF4,
                         NC_NETCDF4 | NC_CLASSIC_MODEL};
    if (argc == 3 && strcmp(argv[1], "unclosed") == 0) {
        mode = atoi(argv[2]);
        define("unclosed.nc");
        for (size_t r = 0; r < records; r++) put(r);
        exit(failures != 0);
    }
    for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
        mode = modes[m];
        files();
        once();
        unclosed(argv[0]);
    }
    return failures != 0;
}
