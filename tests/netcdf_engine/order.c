/* Tests calls in an unusual order, and calls that only some ranks make. Expects the codes and data
 * of netCDF-C.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "ranks.h"

/* Tests that a rank can put data independently into a record that another rank has added. */
static void record_of_another(void) {
    const size_t none[2] = {0, 0};
    fresh("record.nc", NC_NETCDF4);
    EXPECT(0, nc_enddef(id));
    EXPECT(0, nc_var_par_access(id, t, NC_COLLECTIVE));
    EXPECT(0, nc_put_vara_int(id, t, start, rank > 0 ? none : count, values));
    EXPECT(0, nc_var_par_access(id, t, NC_INDEPENDENT));
    if (rank > 0) EXPECT(0, nc_put_vara_int(id, t, start, count, values));
    EXPECT(0, nc_close(id));
    reopened("record.nc", "t", per_rank * ranks);
    EXPECT(0, nc_close(id));
}

/* Ranks have put data; then they rename a dimension and variables, together and one by one.
 * NetCDF-C 4.9.0 cannot do this with a file that it opens again. */
static void renames_after_puts(int format) {
    int late = 0, found = 0;
    fresh("renamed.nc", format);
    EXPECT(0, nc_def_var_fill(id, t, 0, &(int){-7}));
    EXPECT(0, nc_enddef(id));
    EXPECT(0, nc_var_par_access(id, t, NC_COLLECTIVE));
    EXPECT(0, nc_put_vara_int(id, t, start, count, values));
    EXPECT(0, nc_put_vara_int(id, f, start + 1, count + 1, values));
    for (int turn = 0; turn < 2; turn++) {
        EXPECT(0, nc_redef(id));
        EXPECT(0, nc_rename_dim(id, dims[1], turn == 0 ? "xx" : "xxx"));
        EXPECT(0, nc_rename_var(id, f, turn == 0 ? "ff" : "fff"));
        if (turn == 0) EXPECT(0, nc_def_var(id, "late", NC_INT, 1, &dims[1], &late));
        EXPECT(0, nc_enddef(id));
        EXPECT(NC_ENOTVAR, nc_inq_varid(id, "f", &found));
        EXPECT(0, nc_get_vara_int(id, f, start + 1, count + 1, all));
        EXPECT(values[1], all[1]);
        section((size_t)turn + 1, (size_t)(per_rank * rank), 1, per_rank);
        EXPECT(0, nc_put_vara_int(id, t, start, count, values));
        EXPECT(0, nc_put_vara_int(id, late, start + 1, count + 1, values));
    }
    EXPECT(0, nc_close(id));
    own();
    reopened("renamed.nc", "fff", per_rank * ranks);
    EXPECT(0, nc_inq_dimid(id, "xxx", &found));
    EXPECT(dims[1], found);
    for (size_t r = 0; r < 3; r++) {
        section(r, (size_t)(per_rank * rank), 1, per_rank);
        EXPECT(0, nc_get_vara_int(id, t, start, count, all));
        EXPECT(values[3], all[3]);
    }
    EXPECT(0, nc_close(id));
    reopened("renamed.nc", "late", per_rank * ranks);
    EXPECT(0, nc_inq_var_fill(id, t, NULL, &found));
    EXPECT(-7, found);
    EXPECT(0, nc_close(id));
    own();
}

/* Collective puts that are written at once, here of a large variable, perhaps after an independent
 * put: each rank reads by itself what all have put. */
static void large_put_then_read(int format, int independent) {
    enum { large = 1 << 17 };
    int dim = 0, big = 0;
    setenv("THALWEG_STAGING", "4MiB", 1); /* so that a rank queues less than its part */
    fresh("large.nc", format);
    EXPECT(0, nc_def_dim(id, "large", (size_t)large * (size_t)ranks, &dim));
    EXPECT(0, nc_def_var(id, "big", NC_INT, 1, &dim, &big));
    EXPECT(0, nc_enddef(id));
    if (independent) EXPECT(0, nc_put_vara_int(id, f, start + 1, count + 1, values));
    const size_t first = (size_t)large * (size_t)rank, n = large;
    int* const data = calloc(large, sizeof *data);
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < large; i++) data[i] = rank + turn;
        EXPECT(0, nc_var_par_access(id, big, NC_COLLECTIVE));
        EXPECT(0, nc_put_vara_int(id, big, &first, &n, data));
        EXPECT(0, nc_var_par_access(id, big, NC_INDEPENDENT));
        for (int other = 0; other < ranks; other++) {
            const size_t last = (size_t)large * (size_t)(other + 1) - 1;
            EXPECT(0, nc_get_var1_int(id, big, &last, all));
            EXPECT(other + turn, all[0]);
        }
        EXPECT(0, nc_get_vara_int(id, f, start + 1, count + 1, all));
        if (independent) EXPECT(values[1], all[1]);
    }
    free(data);
    EXPECT(0, nc_close(id));
    unsetenv("THALWEG_STAGING");
}

/* After a rank has read independently, all ranks define another variable, which can be read, too.
 */
static void variable_after_reading(void) {
    int late = 0;
    fresh("late.nc", NC_64BIT_DATA);
    EXPECT(0, nc_enddef(id));
    EXPECT(0, nc_var_par_access(id, NC_GLOBAL, NC_COLLECTIVE));
    EXPECT(0, nc_close(id));
    open_file("late.nc", NC_WRITE);
    EXPECT(0, nc_get_vara_int(id, f, start + 1, count + 1, all));
    EXPECT(0, nc_redef(id));
    EXPECT(0, nc_def_var(id, "late", NC_INT, 1, &dims[1], &late));
    EXPECT(NC_EINVAL, nc__enddef(id, (size_t)-1, 1, 0, 1));
    EXPECT(0, nc_enddef(id));
    EXPECT(0, nc_get_vara_int(id, late, start + 1, count + 1, all));
    EXPECT(NC_FILL_INT, all[0]);
    EXPECT(0, nc_close(id));
}

/* Tests ranks that make calls for different files. All must get an error, and neither file may
 * contain data of the other. */
static void different_files(void) {
    enum { large = 1 << 15 };
    const size_t n = large, at[1] = {(size_t)large * (size_t)rank};
    int ids[2], dim = 0, v = 0;
    int* const x = calloc(n, sizeof *x);
    for (int i = 0; i < 2; i++) {
        fresh(i == 0 ? "a.nc" : "b.nc", NC_64BIT_DATA);
        ids[i] = id;
        EXPECT(0, nc_set_fill(id, NC_NOFILL, NULL));
        EXPECT(0, nc_def_dim(id, "large", n * (size_t)ranks, &dim));
        EXPECT(0, nc_def_var(id, "large", NC_INT, 1, &dim, &v));
        EXPECT(0, nc_enddef(id));
        for (int k = 0; k < per_rank; k++) values[k] = 10 * rank + k + 100 * i;
        EXPECT(0, nc_put_vara_int(id, f, start + 1, count + 1, values));
    }
    EXPECT(ranks > 1 ? -250 : 0, nc_sync(ids[rank > 0]));
    /* Nobody waits in calls for the second file any more, so this put does not wait, either. */
    if (rank == 0) EXPECT(0, nc_put_vara_int(ids[1], v, at, &n, x));
    MPI_Barrier(MPI_COMM_WORLD);
    free(x);
    EXPECT(0, nc_close(ids[0]));
    EXPECT(0, nc_close(ids[1]));
    reopened("a.nc", "f", per_rank * ranks);
    EXPECT(0, nc_close(id));
    open_file("b.nc", NC_NOWRITE);
    EXPECT(0, nc_get_var_int(id, f, all));
    EXPECT(100, all[0]);
    EXPECT(0, nc_close(id));
}

/* Tests a rank that puts more than its queue holds while the others wait with a new variable, which
 * that rank has not defined yet: in nc_enddef or, if the file has no data yet, in nc_close. */
static void alone_while_others_define(int format, int has_data) {
    enum { piece = 1 << 16, pieces = 12 };
    const size_t n = piece;
    int dim = 0, big = 0, late = 0;
    int* const x = malloc(n * sizeof *x);
    setenv("THALWEG_STAGING", "1MiB", 1);
    fresh("define.nc", format);
    EXPECT(0, nc_def_dim(id, "large", (size_t)piece * pieces, &dim));
    EXPECT(0, nc_def_var(id, "big", NC_INT, 1, &dim, &big));
    EXPECT(0, nc_enddef(id));
    if (has_data) {
        EXPECT(0, nc_put_vara_int(id, f, start + 1, count + 1, values));
        EXPECT(0, nc_sync(id));
    }
    for (size_t i = 0; i < pieces && rank == 0; i++) {
        const size_t first = i * piece;
        for (int k = 0; k < piece; k++) x[k] = (int)i + k;
        usleep(10000);
        EXPECT(0, nc_put_vara_int(id, big, &first, &n, x));
    }
    EXPECT(0, nc_redef(id));
    EXPECT(0, nc_def_var(id, "late", NC_INT, 1, &dims[1], &late));
    EXPECT(0, nc_enddef(id));
    EXPECT(0, nc_put_vara_int(id, late, start + 1, count + 1, values));
    EXPECT(0, nc_close(id));
    unsetenv("THALWEG_STAGING");
    reopened("define.nc", "late", per_rank * ranks);
    for (size_t i = 0; i < pieces; i++) {
        const size_t first = i * piece;
        EXPECT(0, nc_get_vara_int(id, big, &first, &n, x));
        EXPECT((long)i, x[0]);
        EXPECT((long)i + piece - 1, x[piece - 1]);
    }
    EXPECT(0, nc_close(id));
    free(x);
}

/* Tests values that wait for a slow writer while the program goes on, and changes its arrays:
 * records that exceed the queue, scalars, and parts of a variable that a rank puts alone. */
static void values_wait(int format, int syncs) {
    enum { length = 1 << 19, part = 1 << 18, records = 5 };
    const size_t n = part;
    int dim[3], s = 0, big = 0, parts = 0;
    int* const x = malloc(length * sizeof *x);
    fresh("waiting.nc", format);
    EXPECT(0, nc_set_fill(id, NC_NOFILL, NULL));
    dim[0] = dims[0];
    EXPECT(0, nc_def_dim(id, "length", (size_t)length * (size_t)ranks, &dim[1]));
    EXPECT(0, nc_def_dim(id, "parts", (size_t)part * (size_t)ranks * records, &dim[2]));
    EXPECT(0, nc_def_var(id, "s", NC_INT, 1, dim, &s));
    EXPECT(0, nc_def_var(id, "big", NC_INT, 2, dim, &big));
    EXPECT(0, nc_def_var(id, "parts", NC_INT, 1, &dim[2], &parts));
    EXPECT(0, nc_enddef(id));
    EXPECT(0, nc_var_par_access(id, s, NC_COLLECTIVE));
    EXPECT(0, nc_var_par_access(id, big, NC_COLLECTIVE));
    if (format == NC_NETCDF4) EXPECT(0, nc_var_par_access(id, parts, NC_INDEPENDENT));
    for (size_t r = 0; r < records; r++) {
        const size_t one = 1, first = (r * (size_t)ranks + (size_t)rank) * part;
        x[0] = (int)r;
        EXPECT(0, nc_put_vara_int(id, s, &r, &one, x));
        section(r, (size_t)length * (size_t)rank, 1, length);
        for (int i = 0; i < length; i++) x[i] = (int)r * 1000 + rank + i;
        EXPECT(0, nc_put_vara_int(id, big, start, count, x));
        for (int i = 0; i < part; i++) x[i] = (int)r * 2000 + rank - i;
        EXPECT(0, nc_put_vara_int(id, parts, &first, &n, x));
        if (syncs) EXPECT(0, nc_sync(id));
    }
    EXPECT(0, nc_close(id));
    open_file("waiting.nc", NC_NOWRITE);
    for (size_t r = 0; r < records; r++) {
        const size_t first = (r * (size_t)ranks + (size_t)rank) * part;
        EXPECT(0, nc_get_var1_int(id, s, &r, x));
        EXPECT((long)r, x[0]);
        section(r, (size_t)length * (size_t)rank, 1, length);
        EXPECT(0, nc_get_vara_int(id, big, start, count, x));
        for (int i = 0; i < length && !failures; i++) EXPECT((int)r * 1000 + rank + i, x[i]);
        EXPECT(0, nc_get_vara_int(id, parts, &first, &n, x));
        for (int i = 0; i < part && !failures; i++) EXPECT((int)r * 2000 + rank - i, x[i]);
    }
    EXPECT(0, nc_close(id));
    free(x);
    own();
}

/* Tests variables with chunks and without fill value, in a file that is opened again: one of which
 * rank 0 puts a single value, and one that nobody puts. */
static void chunks_without_fill(int deflate) {
    const size_t chunk = 3, at = per_rank - 1;
    const char* const names[] = {"one", "none"};
    int v = 0, no_fill = 0;
    fresh("chunks.nc", NC_NETCDF4);
    EXPECT(0, nc_set_fill(id, NC_NOFILL, NULL));
    for (int i = 0; i < 2; i++) {
        EXPECT(0, nc_def_var(id, names[i], NC_INT, 1, &dims[1], &v));
        EXPECT(0, nc_def_var_chunking(id, v, NC_CHUNKED, &chunk));
        if (deflate) EXPECT(0, nc_def_var_deflate(id, v, 1, 1, 1));
    }
    EXPECT(0, nc_enddef(id));
    if (rank == 0) EXPECT(0, nc_put_var1_int(id, v - 1, &at, &values[at]));
    EXPECT(0, nc_close(id));
    open_file("chunks.nc", NC_NOWRITE);
    for (int i = 0; i < 2; i++) {
        EXPECT(0, nc_inq_varid(id, names[i], &v));
        EXPECT(0, nc_inq_var_fill(id, v, &no_fill, NULL));
        EXPECT(1, no_fill);
        EXPECT(0, nc_get_var_int(id, v, all));
        for (int x = 0; x < per_rank * ranks; x++)
            EXPECT(i == 0 && x == per_rank - 1 ? x : NC_FILL_INT, all[x]);
    }
    EXPECT(0, nc_close(id));
}

/* Tests a rank that puts much while the others wait in nc_close: the data get into the file before
 * that rank closes it. */
static void alone_while_others_close(int fill) {
    enum { piece = 1 << 18, most = 400 };
    const char* const path = "others.nc";
    const size_t n = piece;
    int dim = 0, v = 0, found = 0;
    struct stat info;
    int* const x = malloc(n * sizeof *x);
    fresh(path, NC_NETCDF4);
    EXPECT(0, nc_set_fill(id, fill, NULL));
    EXPECT(0, nc_def_dim(id, "large", (size_t)piece * most, &dim));
    EXPECT(0, nc_def_var(id, "large", NC_INT, 1, &dim, &v));
    EXPECT(0, nc_enddef(id));
    size_t i = 0;
    for (; i < most && rank == 0 && !found; i++) {
        const size_t first = i * piece;
        for (int k = 0; k < piece; k++) x[k] = (int)i + k;
        EXPECT(0, nc_put_vara_int(id, v, &first, &n, x));
        usleep(10000);
        found = stat("others.nc.part", &info) == 0 && info.st_blocks > 512;
    }
    EXPECT(rank == 0, found);
    EXPECT(0, nc_close(id));
    reopened(path, "f", 0);
    EXPECT(0, nc_inq_varid(id, "large", &v));
    while (rank == 0 && i-- > 0) {
        const size_t first = i * piece;
        EXPECT(0, nc_get_vara_int(id, v, &first, &n, x));
        EXPECT((int)i, x[0]);
        EXPECT((int)i + piece - 1, x[piece - 1]);
    }
    EXPECT(0, nc_close(id));
    free(x);
}

/* Tests a rank that puts much while the others wait in nc_sync, although the ranks have given the
 * variable different names. The joint call takes the names of the first rank. */
static void other_names(void) {
    enum { piece = 1 << 15 };
    const size_t first = (size_t)piece * (size_t)rank, n = piece, one = 1;
    int dim = 0, v = 0;
    char name[80];
    int* const x = calloc(n, sizeof *x);
    snprintf(name, sizeof name, "a variable with a long name, from which memory is freed %d", rank);
    fresh("names.nc", NC_NETCDF4);
    EXPECT(0, nc_set_fill(id, NC_NOFILL, NULL));
    EXPECT(0, nc_def_dim(id, "large", n * (size_t)ranks, &dim));
    EXPECT(0, nc_def_var(id, name, NC_INT, 1, &dim, &v));
    EXPECT(0, nc_enddef(id));
    EXPECT(0, nc_put_vara_int(id, f, start + 1, count + 1, values));
    x[0] = x[piece - 1] = rank + 1;
    if (rank == ranks - 1) {
        usleep(300000); /* meanwhile, the others begin to wait */
        EXPECT(0, nc_put_vara_int(id, v, &first, &n, x));
    }
    EXPECT(0, nc_sync(id));
    if (rank < ranks - 1) EXPECT(0, nc_put_vara_int(id, v, &first, &n, x));
    EXPECT(0, nc_close(id));
    reopened("names.nc", "f", per_rank * ranks);
    EXPECT(0, nc_inq_varid(id, "a variable with a long name, from which memory is freed 0", &v));
    for (int r = 0; r < ranks; r++) {
        const size_t last = (size_t)piece * (size_t)(r + 1) - 1;
        EXPECT(0, nc_get_vara_int(id, v, &last, &one, x));
        EXPECT(r + 1, x[0]);
    }
    EXPECT(0, nc_close(id));
    free(x);
}

/* Tests paths at which no file can be created. */
static void places(void) {
    int second = 0;
    const int is_root = geteuid() == 0;
    fresh("open.nc", NC_NETCDF4);
    EXPECT(13, nc_create_par("open.nc", NC_NETCDF4, MPI_COMM_WORLD, MPI_INFO_NULL, &second));
    EXPECT(0, nc_close(id));
    char folder[64] = "/tmp/thalweg.XXXXXX", path[80];
    if (rank == 0) {
        EXPECT(1, mkdtemp(folder) != NULL);
        EXPECT(0, chmod(folder, 0555));
    }
    MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "%s/a.nc", folder);
    if (is_root && setresuid(65534, 65534, 0) != 0) return;
    const int code = nc_create_par(path, NC_NETCDF4, MPI_COMM_WORLD, MPI_INFO_NULL, &second);
    EXPECT(1, code == 13 || code == NC_EIO); /* error of netCDF-C */
    if (is_root) EXPECT(0, setresuid(0, 0, 0));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) rmdir(folder);
}

/* Tests a large put that one rank writes at once and that fails: the next joint call returns its
 * error on all ranks, and so does every later call. */
static void large_put_fails(void) {
    enum { mine = 1 << 17 };
    int dim = 0, v = 0, old = 0;
    const size_t zero = 0, one = 1, from = (size_t)rank * mine, n = mine;
    const int last = rank == ranks - 1;
    struct rlimit before, little;
    if (ranks == 1) return;
    fresh("limit.nc", NC_64BIT_DATA);
    EXPECT(0, nc_set_fill(id, NC_NOFILL, &old));
    EXPECT(0, nc_def_dim(id, "large", (size_t)ranks * mine, &dim));
    EXPECT(0, nc_def_var(id, "v", NC_INT, 1, &dim, &v));
    EXPECT(0, nc_enddef(id));
    if (rank == 0) EXPECT(0, nc_put_vara_int(id, v, &zero, &one, values));
    EXPECT(0, nc_sync(id));
    int* const zeros = calloc(mine, sizeof *zeros);
    EXPECT(0, getrlimit(RLIMIT_FSIZE, &before));
    little = before;
    little.rlim_cur = 1 << 16;
    if (last) EXPECT(0, setrlimit(RLIMIT_FSIZE, &little));
    EXPECT(last ? EFBIG : 0, nc_put_vara_int(id, v, &from, &n, zeros));
    EXPECT(0, setrlimit(RLIMIT_FSIZE, &before));
    EXPECT(EFBIG, nc_sync(id));
    EXPECT(EFBIG, nc_put_vara_int(id, v, &from, &n, zeros));
    EXPECT(EFBIG, nc_close(id));
    free(zeros);
}

enum { records = 100 };

static void* write_file(void* argument) {
    const int own_id = *(const int*)argument;
    for (size_t r = 0; r < records; r++) {
        const size_t at[2] = {r, 0}, n[2] = {1, per_rank};
        if (nc_put_vara_int(own_id, t, at, n, values) != 0) return argument;
        if (r % 10 == 9 && nc_sync(own_id) != 0) return argument;
    }
    return NULL;
}

/* Tests two threads that write at the same time, each to its own file. */
static void threads(int level) {
    int ids[2];
    pthread_t thread[2];
    char path[64];
    if (level < MPI_THREAD_MULTIPLE) return;
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "thread%d_%d.nc", rank, i);
        EXPECT(0, nc_create_par(path, NC_64BIT_DATA, MPI_COMM_SELF, MPI_INFO_NULL, &ids[i]));
        EXPECT(0, nc_def_dim(ids[i], "time", NC_UNLIMITED, &dims[0]));
        EXPECT(0, nc_def_dim(ids[i], "x", per_rank, &dims[1]));
        EXPECT(0, nc_def_var(ids[i], "t", NC_INT, 2, dims, &t));
        EXPECT(0, nc_enddef(ids[i]));
    }
    for (int i = 0; i < 2; i++) EXPECT(0, pthread_create(&thread[i], NULL, write_file, &ids[i]));
    for (int i = 0; i < 2; i++) {
        void* failed = NULL;
        pthread_join(thread[i], &failed);
        EXPECT(1, failed == NULL);
        section(records - 1, 0, 1, per_rank);
        EXPECT(0, nc_get_vara_int(ids[i], t, start, count, all));
        EXPECT(values[1], all[1]);
        EXPECT(0, nc_close(ids[i]));
    }
}

/* Puts n records into a new file in the background, so that the ranks pass later puts to the
 * library at once. In record `wrong`, rank 0 puts into a variable that does not exist: no rank
 * waits. */
static void put_records(const char* path, size_t n, size_t wrong) {
    fresh(path, NC_64BIT_DATA);
    EXPECT(0, nc_enddef(id));
    EXPECT(0, nc_var_par_access(id, t, NC_COLLECTIVE));
    for (size_t r = 0; r < n; r++) {
        const int none = r == wrong && rank == 0;
        section(r, (size_t)(per_rank * rank), 1, per_rank);
        EXPECT(none ? NC_ENOTVAR : 0, nc_put_vara_int(id, none ? -7 : t, start, count, values));
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Tests that a collective put counts after an earlier independent put of another rank, even where
 * it would be passed to the library: with one put a record, the eleventh one. */
static void access_changes(void) {
    const int earlier[per_rank] = {77, 77, 77, 77};
    put_records("access.nc", 10, 10);
    EXPECT(0, nc_var_par_access(id, t, NC_INDEPENDENT));
    section(2, 0, 1, per_rank);
    if (rank == ranks - 1) EXPECT(0, nc_put_vara_int(id, t, start, count, earlier));
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT(0, nc_var_par_access(id, t, NC_COLLECTIVE));
    section(2, (size_t)(per_rank * rank), 1, per_rank);
    EXPECT(0, nc_put_vara_int(id, t, start, count, values));
    section(2, 0, 1, (size_t)(per_rank * ranks));
    EXPECT(0, nc_get_vara_int(id, t, start, count, all));
    expect_columns(per_rank * ranks);
    EXPECT(0, nc_close(id));
}

int main(int argc, char** argv) {
    int level = 0;
    begin(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (argc > 1 && strcmp(argv[1], "waiting") == 0) {
        for (int m = 0; m < 4; m++) values_wait(m % 2 == 0 ? NC_64BIT_DATA : NC_NETCDF4, m / 2);
        return finish();
    }
    if (argc > 1) { /* "passing" */
        put_records("wrong.nc", 40, 5);
        EXPECT(0, nc_close(id));
        access_changes();
        return finish();
    }
    record_of_another();
    variable_after_reading();
    for (int m = 0; m < 2; m++) {
        const int format = m == 0 ? NC_64BIT_DATA : NC_NETCDF4;
        renames_after_puts(format);
        large_put_then_read(format, 0);
        large_put_then_read(format, 1);
        alone_while_others_define(format, 0);
        alone_while_others_define(format, 1);
    }
    if (ranks > 1) {
        alone_while_others_close(NC_FILL);
        alone_while_others_close(NC_NOFILL);
        other_names();
    }
    chunks_without_fill(0);
    chunks_without_fill(1);
    different_files();
    /* The service background writes no put at once. */
    if (getenv("THALWEG_SERVICE") == NULL) large_put_fails();
    places();
    threads(level);
    return finish();
}
