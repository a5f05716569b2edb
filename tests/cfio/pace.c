/* Measures how long the clients of a CFIO program wait, and how much is written.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Usage, with one rank more than clients (there is one server):
 *   pace steps FOLDER STEPS SECONDS MIB   a file of so many MiB after each SECONDS of computing;
 *                                         THALWEG_BANDWIDTH limits the rate of the disk
 *   pace blocks FOLDER MIB                one file, each client some columns, one after another
 *   pace rows FOLDER ROWS                 each client puts every n-th row, one by one
 * Prints seconds on the slowest client: from the start to cfio_finalize, and the longest time of
 * each kind of call.
 */
#include <cfio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int rank, clients;

struct seconds {
    double enddef, put, close, work, end, all;
};

static void took(double* longest, double since) {
    const double seconds = MPI_Wtime() - since;
    if (seconds > *longest) {
        *longest = seconds;
    }
}

static void sleep_for(double seconds) { usleep((useconds_t)(seconds * 1e6)); }

static void check(int code) {
    if (code != 0) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* Writes doubles to "v(y, x)". Each client has some of the columns. */
static void write_columns(const char* path, size_t ny, size_t nx, double pause, struct seconds* s) {
    int id, dims[2], var;
    size_t start[2] = {0, nx / (size_t)clients * (size_t)rank};
    size_t count[2] = {ny, nx / (size_t)clients};
    double* values = malloc(count[0] * count[1] * sizeof *values);
    for (size_t i = 0; i < count[0] * count[1]; ++i) {
        values[i] = (double)(i % 1000);
    }
    check(cfio_create(path, NC_64BIT_OFFSET, &id));
    check(cfio_def_dim(id, "y", ny, &dims[0]));
    check(cfio_def_dim(id, "x", nx, &dims[1]));
    check(cfio_def_var(id, "v", CFIO_DOUBLE, 2, dims, start, count, &var));
    double since = MPI_Wtime();
    check(cfio_enddef(id));
    took(&s->enddef, since);
    sleep_for(pause * rank);
    since = MPI_Wtime();
    check(cfio_put_vara_double(id, var, 2, start, count, values));
    took(&s->put, since);
    free(values);
    since = MPI_Wtime();
    check(cfio_close(id));
    took(&s->close, since);
    check(cfio_io_end());
}

static void steps(const char* folder, int n, double compute, double mib, struct seconds* s) {
    const size_t nx = 1024 * (size_t)clients;
    const size_t ny = (size_t)(mib * 1024 * 1024 / 8 / (double)nx);
    char path[4096];
    for (int i = 0; i < n; ++i) {
        sleep_for(compute);
        snprintf(path, sizeof path, "%s/step-%d.nc", folder, i);
        write_columns(path, ny, nx, 0, s);
    }
}

static void rows(const char* folder, size_t n, struct seconds* s) {
    int id, dims[2], var;
    const size_t width = 16;
    double values[16];
    char path[4096];
    snprintf(path, sizeof path, "%s/rows.nc", folder);
    check(cfio_create(path, NC_64BIT_OFFSET, &id));
    check(cfio_def_dim(id, "y", n * (size_t)clients, &dims[0]));
    check(cfio_def_dim(id, "x", width, &dims[1]));
    size_t start[2] = {(size_t)rank, 0};
    size_t count[2] = {1, width};
    check(cfio_def_var(id, "v", CFIO_DOUBLE, 2, dims, start, count, &var));
    check(cfio_enddef(id));
    const double since = MPI_Wtime();
    for (; start[0] < n * (size_t)clients; start[0] += (size_t)clients) {
        for (size_t i = 0; i < width; ++i) {
            values[i] = (double)(start[0] * width + i);
        }
        check(cfio_put_vara_double(id, var, 2, start, count, values));
    }
    took(&s->put, since);
    check(cfio_close(id));
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &clients);
    --clients;
    const char* what = argc > 2 ? argv[1] : "";
    struct seconds mine = {0};
    check(cfio_init(clients, 1, clients));
    double begin = MPI_Wtime();
    CFIO_START()
    begin = MPI_Wtime();
    if (strcmp(what, "steps") == 0 && argc == 6) {
        steps(argv[2], atoi(argv[3]), atof(argv[4]), atof(argv[5]), &mine);
    } else if (strcmp(what, "blocks") == 0 && argc == 4) {
        char path[4096];
        snprintf(path, sizeof path, "%s/blocks.nc", argv[2]);
        write_columns(path, (size_t)(atof(argv[3]) * 128 / clients), 1024 * (size_t)clients, 0.02,
                      &mine);
    } else if (strcmp(what, "rows") == 0 && argc == 4) {
        rows(argv[2], (size_t)atoi(argv[3]), &mine);
    }
    mine.work = MPI_Wtime() - begin;
    CFIO_END()
    const double end = MPI_Wtime();
    check(cfio_finalize());
    if (mine.work > 0) {
        mine.end = MPI_Wtime() - end;
        mine.all = MPI_Wtime() - begin;
    }
    struct seconds longest;
    MPI_Reduce(&mine, &longest, sizeof mine / sizeof(double), MPI_DOUBLE, MPI_MAX, 0,
               MPI_COMM_WORLD);
    if (rank == 0) {
        printf("clients %.3f finalize %.3f all %.3f enddef %.4f put %.4f close %.4f\n",
               longest.work, longest.end, longest.all, longest.enddef, longest.put, longest.close);
    }
    MPI_Finalize();
    return 0;
}
