/* Writes or reads by the calls of netCDF as one of several programs does, and prints the seconds
 * from create or open to close. For comparison, `own` does the same by Thalweg's own calls.
 *
 * Usage: netcdf-bench CASE PATH [own]; CASE is one of those that usage() prints.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <mpi.h>
#include <netcdf.h>
#include <netcdf_par.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <thalweg/thalweg.h>
#include <unistd.h>

extern char** environ;
static int rank, ranks, serial, own;
static tw_session session;

static void check(int code, const char* what) {
    if (code == 0) return;
    fprintf(stderr, "netcdf-bench: rank %d: %s: %s\n", rank, what,
            own ? tw_error_message(session) : nc_strerror(code));
    MPI_Abort(MPI_COMM_WORLD, 1);
}
#define CHECK(call) check(call, #call)

typedef enum { classic, netcdf4, deflate, reading, levels, computing } Way;
static const char* const ways[] = {"classic", "netcdf4", "deflate",
                                   "reading", "levels",  "computing"};

/* Variables of the same grid: levels, rows, columns. */
typedef struct {
    const char* name;
    int vars, records;
    int64_t length[3];
    int cut[2]; /* dimensions along which the ranks divide it */
} Grid;

static const Grid grids[] = {
    {"t85", 36, 2, {26, 128, 256}, {1, 1}},    {"fv-b", 36, 4, {26, 91, 144}, {0, 1}},
    {"fv-d", 36, 1, {26, 361, 576}, {0, 1}},   {"cmaq-ca", 146, 1, {35, 134, 89}, {1, 2}},
    {"wrf", 202, 4, {27, 61, 74}, {1, 2}},     {"ufs", 60, 1, {1, 384, 768}, {1, 1}},
    {"serial", 4, 16, {16, 256, 256}, {1, 1}},
};

static const char* const names[4] = {"time", "lev", "lat", "lon"};
static int64_t start[4], count[4]; /* record, levels, rows, columns */

static void cut(const Grid* g) {
    int parts[2] = {0, 0};
    const int one = g->cut[0] == g->cut[1];
    for (int d = 0; d < 4; d++) start[d] = 0, count[d] = d == 0 ? 1 : g->length[d - 1];
    MPI_Dims_create(ranks, one ? 1 : 2, parts);
    if (one) parts[1] = 1;
    for (int c = 0; c < (one ? 1 : 2); c++) {
        const int mine = c == 0 ? rank / parts[1] : rank % parts[1];
        const int64_t all = g->length[g->cut[c]];
        start[1 + g->cut[c]] = all * mine / parts[c];
        count[1 + g->cut[c]] = all * (mine + 1) / parts[c] - all * mine / parts[c];
    }
}

/* Stands for the computation between two records. Returns its seconds. */
static double compute(Way way) {
    if (way != computing) return 0;
    const double begin = MPI_Wtime();
    usleep(300000);
    return MPI_Wtime() - begin;
}

static int define(const Grid* g, const char* path, Way way) {
    int id = 0, dims[4], v = 0;
    const int mode = way == netcdf4 || way == deflate || way == computing ? NC_NETCDF4
                     : serial                                             ? NC_64BIT_OFFSET
                                                                          : NC_64BIT_DATA;
    if (serial)
        CHECK(nc_create(path, mode, &id));
    else
        CHECK(nc_create_par(path, mode, MPI_COMM_WORLD, MPI_INFO_NULL, &id));
    if (!serial) CHECK(nc_set_fill(id, NC_NOFILL, NULL));
    for (int d = 0; d < 4; d++)
        CHECK(nc_def_dim(id, names[d], d == 0 ? NC_UNLIMITED : (size_t)g->length[d - 1], &dims[d]));
    for (int i = 0; i < g->vars; i++) {
        char name[16];
        snprintf(name, sizeof name, "v%d", i);
        CHECK(nc_def_var(id, name, NC_FLOAT, 4, dims, &v));
        if (way == deflate) CHECK(nc_def_var_deflate(id, v, 1, 1, 1));
    }
    CHECK(nc_enddef(id));
    return id;
}

/* Puts or gets a variable of a record, in a serial program one level at a time if wanted. */
static void transfer(int id, int v, int record, Way way, float* values) {
    const size_t step = way == levels ? 1 : (size_t)count[1];
    for (size_t level = 0; level < (size_t)count[1]; level += step) {
        const size_t first[4] = {(size_t)record, (size_t)start[1] + level, (size_t)start[2],
                                 (size_t)start[3]};
        const size_t n[4] = {1, step, (size_t)count[2], (size_t)count[3]};
        float* const at = values + level * n[2] * n[3];
        if (way == reading)
            CHECK(nc_get_vara_float(id, v, first, n, at));
        else
            CHECK(nc_put_vara_float(id, v, first, n, at));
    }
}

static double by_netcdf(const Grid* g, const char* path, Way way, float* values) {
    const int64_t elements = count[1] * count[2] * count[3];
    double idle = 0;
    int id = 0;
    if (way != reading)
        id = define(g, path, way);
    else
        CHECK(nc_open_par(path, NC_NOWRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &id));
    for (int v = 0; v < g->vars && !serial; v++) CHECK(nc_var_par_access(id, v, NC_COLLECTIVE));
    for (int r = 0; r < g->records; r++) {
        for (int v = 0; v < g->vars; v++) transfer(id, v, r, way, values + v * elements);
        idle += compute(way);
    }
    CHECK(nc_close(id));
    return idle;
}

static double by_own_calls(const Grid* g, const char* path, Way way, float* values) {
    const int64_t elements = count[1] * count[2] * count[3];
    double idle = 0;
    char name[16];
    tw_file file;
    tw_decomposition part = NULL;
    if (way == reading) {
        CHECK(tw_open(session, path, "", &file));
    } else {
        CHECK(tw_create(session, path,
                        way == classic || way == levels ? "format=cdf5"
                        : way == deflate                ? "format=netcdf4; deflate=1; shuffle=yes"
                                                        : "format=netcdf4",
                        &file));
        CHECK(tw_decompose(session, "lev lat lon", 1, g->length, start + 1, count + 1, &part));
        CHECK(tw_def_dim(file, "time", TW_UNLIMITED));
        for (int v = 0; v < g->vars; v++) {
            snprintf(name, sizeof name, "v%d", v);
            CHECK(tw_def_var(file, name, TW_FLOAT, "time lev lat lon", part));
        }
    }
    for (int r = 0; r < g->records; r++) {
        start[0] = r;
        for (int v = 0; v < g->vars; v++) {
            snprintf(name, sizeof name, "v%d", v);
            if (way == reading)
                CHECK(tw_get_box(file, name, TW_FLOAT, start, count, NULL, values + v * elements));
            else
                CHECK(
                    tw_put_record(file, name, part, r, TW_FLOAT, values + v * elements, elements));
        }
        if (way != reading) CHECK(tw_end_step(file));
        idle += compute(way);
    }
    CHECK(tw_close(&file));
    if (part != NULL) CHECK(tw_free_decomposition(&part));
    return idle;
}

static void run_grid(const Grid* g, const char* path, Way way) {
    cut(g);
    const size_t all = (size_t)(g->vars * count[1] * count[2] * count[3]);
    float* const values = malloc(all * sizeof *values);
    for (size_t i = 0; i < all; i++) values[i] = (float)rank + (float)i * 0.25F;
    if (way == reading) (own ? by_own_calls : by_netcdf)(g, path, classic, values);
    for (int i = 0; i < 2; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double begin = MPI_Wtime();
        const double idle = (own ? by_own_calls : by_netcdf)(g, path, way, values);
        if (rank == 0) printf("%.4f s\n", MPI_Wtime() - begin - idle);
    }
    free(values);
}

/* One rank writes 256 MB in pieces of 1 MiB, while the others do nothing. */
static void run_alone(const char* path) {
    enum { piece = 1 << 18, pieces = 244 };
    int id = 0, dim = 0, variable = 0;
    float* const values = calloc(piece, sizeof *values);
    const double begin = MPI_Wtime();
    CHECK(nc_create_par(path, NC_NETCDF4, MPI_COMM_WORLD, MPI_INFO_NULL, &id));
    CHECK(nc_set_fill(id, NC_NOFILL, NULL));
    CHECK(nc_def_dim(id, "x", (size_t)piece * pieces, &dim));
    CHECK(nc_def_var(id, "v", NC_FLOAT, 1, &dim, &variable));
    CHECK(nc_enddef(id));
    for (size_t i = 0; i < pieces && rank == 0; i++) {
        const size_t first = i * piece, n = piece;
        CHECK(nc_put_vara_float(id, variable, &first, &n, values));
    }
    CHECK(nc_close(id));
    if (rank == 0) printf("%.4f s\n", MPI_Wtime() - begin);
    free(values);
}

/* Makes a call that transfers nothing many times, in a file with a variable. */
static void run_calls(const char* path, const char* call) {
    int id = 0, dim = 0, variable = 0;
    size_t length = 0;
    CHECK(nc_create_par(path, NC_NETCDF4, MPI_COMM_WORLD, MPI_INFO_NULL, &id));
    CHECK(nc_def_dim(id, "x", 1000, &dim));
    CHECK(nc_def_var(id, "v", NC_FLOAT, 1, &dim, &variable));
    CHECK(nc_enddef(id));
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int i = 0; i < 100000 && strcmp(call, "inquire") == 0; i++)
        CHECK(nc_inq_dimlen(id, dim, &length));
    for (int i = 0; i < 1000 && strcmp(call, "redefine") == 0; i++) {
        CHECK(nc_redef(id));
        CHECK(nc_enddef(id));
    }
    for (int i = 0; i < 100000 && strcmp(call, "access") == 0; i++)
        CHECK(nc_var_par_access(id, variable, i % 2 == 0 ? NC_COLLECTIVE : NC_INDEPENDENT));
    if (rank == 0) printf("%.5f s\n", MPI_Wtime() - begin);
    CHECK(nc_close(id));
}

/* Starts a program that does nothing, with this process' environment. */
static void run_starts(void) {
    char program[] = "/bin/true";
    char* const arguments[] = {program, NULL};
    const double begin = MPI_Wtime();
    for (int i = 0; i < 1000; i++) {
        pid_t child = 0;
        if (posix_spawn(&child, program, NULL, NULL, arguments, environ) != 0) exit(1);
        waitpid(child, NULL, 0);
    }
    printf("%.4f s\n", MPI_Wtime() - begin);
}

static int run(const char* name, const char* path) {
    const char* const slash = strchr(name, '/');
    int done = 1;
    for (int i = 0; i < 2 && slash == NULL; i++) { /* the first file of a process loads libraries */
        if (strcmp(name, "alone") == 0)
            run_alone(path);
        else if (strcmp(name, "start") == 0)
            run_starts();
        else if (strcmp(name, "inquire") == 0 || strcmp(name, "redefine") == 0 ||
                 strcmp(name, "access") == 0)
            run_calls(path, name);
        else
            done = 0;
    }
    if (slash == NULL) return done;
    for (size_t g = 0; g < sizeof grids / sizeof *grids; g++)
        for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
            const size_t n = strlen(grids[g].name);
            if ((size_t)(slash - name) != n || strncmp(name, grids[g].name, n) != 0 ||
                strcmp(slash + 1, ways[w]) != 0)
                continue;
            run_grid(&grids[g], path, (Way)w);
            return 1;
        }
    return 0;
}

static void usage(void) {
    fprintf(stderr,
            "usage: netcdf-bench CASE PATH [own]; cases: t85, fv-b, fv-d, cmaq-ca, wrf, ufs or "
            "serial with /classic, /netcdf4, /deflate, /reading, /levels (serial) or /computing; "
            "alone, inquire, redefine, access, start\n");
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    own = argc > 3;
    serial = argc > 1 && strncmp(argv[1], "serial/", 7) == 0;
    if (own && serial) CHECK(tw_init_serial("", &session));
    if (own && !serial) CHECK(tw_init(MPI_COMM_WORLD, "", &session));
    const int done = argc > 2 && run(argv[1], argv[2]);
    if (own) CHECK(tw_finalize(&session));
    if (!done && rank == 0) usage();
    MPI_Finalize();
    return done ? 0 : 2;
}
