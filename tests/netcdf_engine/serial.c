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
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "expect.h"

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

/* Puts a record level by level, as a root does that has gathered it; some of doubles. */
static void put(size_t record) {
    const double t = (double)record;
    float row[n];
    double wide[n];
    EXPECT(0, nc_put_var1_double(id, time_id, &record, &t));
    for (int level = 0; level < levels; level++) {
        const size_t start[] = {record, (size_t)level, 0}, count[] = {1, 1, n};
        for (int i = 0; i < n; i++) wide[i] = row[i] = value(record, level, i);
        if (record == 1)
            EXPECT(0, nc_put_vara_double(id, x_id, start, count, wide));
        else
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

/* Tests that each byte is written once for each put, and that none is read. If netCDF filled the
 * variable first, each byte would be written twice and read once. */
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
    EXPECT(0, nc_sync(file));
    const long long size = (long long)many * wide * (long long)sizeof *row;
    EXPECT(1, bytes("wchar:") - written < size + size / 10);
    for (size_t r = 0; r < many; r++) {
        const size_t start[] = {r, wide / 4}, count[] = {1, wide / 4};
        EXPECT(0, nc_put_vara_float(file, x, start, count, row));
    }
    EXPECT(0, nc_close(file));
    EXPECT(1, bytes("rchar:") - read < size / 10);
    EXPECT(0, unlink("once.nc"));
}

/* Tests that chunks to which nothing was put take no room in the file, and read as the fill value.
 * The values of the largest variable would fill 2^58 bytes. */
static void sparse(void) {
    enum { empty, point, tile, large, all };
    static const char* const path = "sparse.nc";
    int file = 0, d[3], v[all], record = 0;
    const size_t chunk[] = {500, 500}, at[] = {1234, 2345}, low[] = {500, 1000},
                 wide[] = {500, 500};
    static double values[500 * 500];
    double got = 0;
    struct stat info = {0};
    if (!(mode & NC_NETCDF4)) return;
    EXPECT(0, nc_create(path, NC_CLOBBER | mode, &file));
    EXPECT(0, nc_def_dim(file, "t", NC_UNLIMITED, &d[0]));
    EXPECT(0, nc_def_dim(file, "y", 4000, &d[1]));
    EXPECT(0, nc_def_dim(file, "x", 4000, &d[2]));
    for (int i = empty; i < large; i++) {
        const char name[] = {(char)('a' + i), '\0'};
        EXPECT(0, nc_def_var(file, name, NC_DOUBLE, 2, &d[1], &v[i]));
        EXPECT(0, nc_def_var_chunking(file, v[i], NC_CHUNKED, chunk));
    }
    EXPECT(0, nc_put_att_double(file, v[tile], "_FillValue", NC_DOUBLE, 1, (const double[]){-7}));
    EXPECT(0, nc_def_var(file, "record", NC_DOUBLE, 3, d, &record));
    EXPECT(0, nc_def_var_deflate(file, record, 0, 1, 1));
    int huge[3];
    for (int i = 0; i < 3; i++) {
        const char name[] = {'h', (char)('0' + i), '\0'};
        EXPECT(0, nc_def_dim(file, name, i < 2 ? 1 << 20 : 1 << 16, &huge[i]));
    }
    EXPECT(0, nc_def_var(file, "large", NC_FLOAT, 3, huge, &v[large]));
    EXPECT(0, nc_def_var_chunking(file, v[large], NC_CHUNKED, NULL));
    EXPECT(0, nc_enddef(file));
    for (int i = 0; i < 500 * 500; i++) values[i] = i;
    EXPECT(0, nc_put_var1_double(file, v[point], at, values + 5));
    EXPECT(0, nc_put_vara_double(file, v[tile], low, wide, values));
    EXPECT(0, nc_put_var1_double(file, record, (const size_t[]){2, 1, 1}, values + 6));
    EXPECT(0, nc_get_var1_double(file, v[empty], at, &got));
    EXPECT(1, got == NC_FILL_DOUBLE);
    EXPECT(0, nc_put_var1_double(file, v[point], (const size_t[]){1235, 2345}, values + 7));
    EXPECT(0, nc_close(file));
    EXPECT(0, stat(path, &info));
    EXPECT(1, info.st_size < 16 << 20); /* two chunks, and a compressed record */
    EXPECT(0, nc_open(path, NC_NOWRITE, &file));
    const struct {
        int variable;
        size_t at[3];
        double value;
    } wanted[] = {{v[empty], {0, 0}, NC_FILL_DOUBLE},
                  {v[point], {1234, 2345}, 5},
                  {v[point], {1235, 2345}, 7},
                  {v[point], {1234, 2346}, NC_FILL_DOUBLE},
                  {v[point], {1234, 1}, NC_FILL_DOUBLE},
                  {v[tile], {500, 1001}, 1},
                  {v[tile], {999, 1499}, 500 * 500 - 1},
                  {v[tile], {500, 999}, -7},
                  {v[tile], {1000, 1000}, -7},
                  {record, {0, 1, 1}, NC_FILL_DOUBLE},
                  {record, {2, 1, 1}, 6},
                  {record, {2, 1, 2}, NC_FILL_DOUBLE},
                  {v[large], {1 << 19, 5, 7}, NC_FILL_FLOAT}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        EXPECT(0, nc_get_var1_double(file, wanted[i].variable, wanted[i].at, &got));
        if (got != wanted[i].value) EXPECT(-1, (long)i);
    }
    EXPECT(0, nc_close(file));
    EXPECT(0, unlink(path));
}

/* Tests variables with the names of dimensions that are defined when the file has data. */
static void coordinates(void) {
    int late[2] = {0}, found = -1;
    double level[levels] = {5, 6, 7, 8}, got[levels] = {0};
    define("coordinates.nc");
    for (size_t r = 0; r < records; r++) put(r);
    EXPECT(0, wrong_values(id, records));
    EXPECT(0, nc_redef(id));
    EXPECT(0, nc_def_var(id, "n", NC_INT, 1, &dims[2], &late[0]));
    EXPECT(0, nc_def_var(id, "level", NC_DOUBLE, 1, &dims[1], &late[1]));
    EXPECT(0, nc_enddef(id));
    EXPECT(0, nc_put_var_double(id, late[1], level));
    EXPECT(0, nc_close(id));
    EXPECT(0, nc_open("coordinates.nc", NC_NOWRITE, &id));
    EXPECT(0, wrong_values(id, records));
    EXPECT(0, nc_inq_varid(id, "level", &found));
    EXPECT(late[1], found);
    EXPECT(0, nc_inq_vardimid(id, found, &found));
    EXPECT(dims[1], found);
    EXPECT(0, nc_get_var_double(id, late[1], got));
    for (int i = 0; i < levels; i++) EXPECT((long)level[i], (long)got[i]);
    EXPECT(0, nc_close(id));
    EXPECT(0, unlink("coordinates.nc"));
}

/* Tests a file that loses its name after some of it was written: it keeps the new one, and what was
 * put; a removed file does not come back. */
static void moved(void) {
    int other = 0;
    for (int removed = 0; removed < 2; removed++) {
        define("moved.nc");
        for (size_t r = 0; r < records; r++) put(r);
        EXPECT(0, nc_sync(id));
        EXPECT(0, removed ? unlink("moved.nc") : rename("moved.nc", "renamed.nc"));
        put(records);
        EXPECT(0, nc_close(id));
        EXPECT(-1, access("moved.nc", F_OK));
        EXPECT(removed ? -1 : 0, access("renamed.nc", F_OK));
        if (removed) continue;
        EXPECT(0, nc_open("renamed.nc", NC_NOWRITE, &other));
        EXPECT(0, wrong_values(other, records + 1));
        EXPECT(0, nc_close(other));
        EXPECT(0, unlink("renamed.nc"));
    }
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

/* Tests inquiries whose answers come from the program's netCDF. */
static void storage(void) {
    int scalar = -1;
    size_t size = 0, slots = 0, old_size, old_slots;
    float share = 0, old_share;
    EXPECT(0, nc_get_chunk_cache(&old_size, &old_slots, &old_share));
    EXPECT(0, nc_set_chunk_cache(1234567, 89, 0.25F));
    EXPECT(0, nc_create("storage.nc", NC_CLOBBER | NC_NETCDF4, &id));
    EXPECT(0, nc_def_var(id, "scalar", NC_INT, 0, NULL, &scalar));
    EXPECT(0, nc_get_var_chunk_cache(id, scalar, &size, &slots, &share));
    EXPECT(1, size == 1234567 && slots == 89 && share == 0.25F);
    EXPECT(NC_EINVAL, nc_def_var_chunking(id, scalar, NC_CHUNKED, NULL));
    EXPECT(0, nc_close(id));
    EXPECT(0, nc_set_chunk_cache(old_size, old_slots, old_share));
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
        if (argc == 2 && strcmp(argv[1], "files") == 0) continue;
        once();
        sparse();
        moved();
        coordinates();
        unclosed(argv[0]);
    }
    if (argc == 1) storage();
    return failures != 0;
}
