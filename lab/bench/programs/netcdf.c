/* Writes or reads by the calls of netCDF alone, as one of several programs does.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <netcdf.h>
#include <netcdf_par.h>
#include <spawn.h>
#include <sys/wait.h>

#include "cases.h"

extern char** environ;
static int serial;

static const char* text_of(int code) { return nc_strerror(code); }

static int create(const char* path, int mode) {
    int id = 0;
    if (serial)
        CHECK(nc_create(path, mode, &id));
    else
        CHECK(nc_create_par(path, mode, MPI_COMM_WORLD, MPI_INFO_NULL, &id));
    return id;
}

static int define(const Grid* g, const char* path, const char* way) {
    int dims[4], v = 0;
    const int new =
        strcmp(way, "netcdf4") == 0 || strcmp(way, "deflate") == 0 || strcmp(way, "computing") == 0;
    const int id = create(path, new ? NC_NETCDF4 : serial ? NC_64BIT_OFFSET : NC_64BIT_DATA);
    if (!serial) CHECK(nc_set_fill(id, NC_NOFILL, NULL));
    for (int d = 0; d < 4; d++)
        CHECK(nc_def_dim(id, names[d], d == 0 ? NC_UNLIMITED : (size_t)g->length[d - 1], &dims[d]));
    for (int i = 0; i < g->vars; i++) {
        char name[16];
        snprintf(name, sizeof name, "v%d", i);
        CHECK(nc_def_var(id, name, NC_FLOAT, 4, dims, &v));
        if (strcmp(way, "deflate") == 0) CHECK(nc_def_var_deflate(id, v, 1, 1, 1));
    }
    CHECK(nc_enddef(id));
    return id;
}

/* Puts or gets a variable of a record, in a serial program one level at a time if wanted. */
static void transfer(int id, int v, int record, const char* way, float* values) {
    const size_t step = strcmp(way, "levels") == 0 ? 1 : (size_t)my_count[1];
    for (size_t level = 0; level < (size_t)my_count[1]; level += step) {
        const size_t first[4] = {(size_t)record, (size_t)my_start[1] + level, (size_t)my_start[2],
                                 (size_t)my_start[3]};
        const size_t n[4] = {1, step, (size_t)my_count[2], (size_t)my_count[3]};
        float* const at = values + level * n[2] * n[3];
        if (strcmp(way, "reading") == 0)
            CHECK(nc_get_vara_float(id, v, first, n, at));
        else
            CHECK(nc_put_vara_float(id, v, first, n, at));
    }
}

static void run_grid(const Grid* g, const char* path, const char* way) {
    const int reads = strcmp(way, "reading") == 0, computes = strcmp(way, "computing") == 0;
    float* const values = make_values((size_t)g->vars * elements());
    double begun = begin(reads ? NULL : path);
    int id = 0;
    if (reads)
        CHECK(nc_open_par(path, NC_NOWRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &id));
    else
        id = define(g, path, way);
    for (int v = 0; v < g->vars && !serial; v++) CHECK(nc_var_par_access(id, v, NC_COLLECTIVE));
    for (int r = 0; r < g->records; r++) {
        for (int v = 0; v < g->vars; v++) transfer(id, v, r, way, values + (size_t)v * elements());
        const double idle = MPI_Wtime(); /* computation, which does not count */
        if (computes) usleep(300000);
        begun += MPI_Wtime() - idle;
    }
    CHECK(nc_close(id));
    end(begun);
    free(values);
}

/* One rank writes 256 MB in pieces of 1 MiB, while the others do nothing. */
static void run_alone(const char* path) {
    enum { piece = 1 << 18, pieces = 244 };
    int dim = 0, variable = 0;
    float* const values = make_values(piece);
    const double begun = MPI_Wtime();
    const int id = create(path, NC_NETCDF4);
    CHECK(nc_set_fill(id, NC_NOFILL, NULL));
    CHECK(nc_def_dim(id, "x", (size_t)piece * pieces, &dim));
    CHECK(nc_def_var(id, "v", NC_FLOAT, 1, &dim, &variable));
    CHECK(nc_enddef(id));
    for (size_t i = 0; i < pieces && rank == 0; i++) {
        const size_t first = i * piece, n = piece;
        CHECK(nc_put_vara_float(id, variable, &first, &n, values));
    }
    CHECK(nc_close(id));
    end(begun);
    free(values);
}

/* Makes a call that transfers nothing many times, in a file with a variable. */
static void run_calls(const char* path, const char* call) {
    int dim = 0, variable = 0;
    size_t length = 0;
    const int id = create(path, NC_NETCDF4);
    CHECK(nc_def_dim(id, "x", 1000, &dim));
    CHECK(nc_def_var(id, "v", NC_FLOAT, 1, &dim, &variable));
    CHECK(nc_enddef(id));
    const double begun = begin(NULL);
    for (int i = 0; i < 100000 && strcmp(call, "inquire") == 0; i++)
        CHECK(nc_inq_dimlen(id, dim, &length));
    for (int i = 0; i < 1000 && strcmp(call, "redefine") == 0; i++) {
        CHECK(nc_redef(id));
        CHECK(nc_enddef(id));
    }
    for (int i = 0; i < 100000 && strcmp(call, "access") == 0; i++)
        CHECK(nc_var_par_access(id, variable, i % 2 == 0 ? NC_COLLECTIVE : NC_INDEPENDENT));
    end(begun);
    CHECK(nc_close(id));
}

/* Starts a program that does nothing, with this process' environment. */
static void run_starts(void) {
    char program[] = "/bin/true";
    char* const arguments[] = {program, NULL};
    const double begun = MPI_Wtime();
    for (int i = 0; i < 1000; i++) {
        pid_t child = 0;
        if (posix_spawn(&child, program, NULL, NULL, arguments, environ) != 0) exit(1);
        waitpid(child, NULL, 0);
    }
    end(begun);
}

static int run(const char* name, const char* path, const char* map) {
    static int files;
    const char* way = NULL;
    const Grid* const grid = find_grid(name, &way);
    (void)map;
    serial = strncmp(name, "serial/", 7) == 0;
    if (grid != NULL && strcmp(way, "reading") == 0 && files++ == 0)
        run_grid(grid, path, "classic");
    if (grid != NULL)
        run_grid(grid, path, way);
    else if (strcmp(name, "alone") == 0)
        run_alone(path);
    else if (strcmp(name, "start") == 0)
        run_starts();
    else if (strcmp(name, "inquire") == 0 || strcmp(name, "redefine") == 0 ||
             strcmp(name, "access") == 0)
        run_calls(path, name);
    else
        return 0;
    return 1;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int code = run_twice(argc, argv);
    MPI_Finalize();
    return code;
}
