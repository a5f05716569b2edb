/* Writes records of tiles by the calls of one library and prints the seconds from create to close.
 * The method "netcdf" uses netCDF's names only: run it plain, and with the shim preloaded.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <mpi.h>
#include <netcdf.h>
#include <netcdf_par.h>
#include <pnetcdf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <thalweg/thalweg.h>

static int rank, ranks;

static struct {
    const char *method, *format, *path;
    int vars, records, deflate, independent, fill;
    int64_t length[3];
} options = {"netcdf", "cdf5", "netcdf_bench.nc", 20, 4, 0, 0, 0, {16, 256, 512}};

static void check(int code, const char* what) {
    if (code == 0) return;
    fprintf(stderr, "netcdf_bench: rank %d: %s returned %d\n", rank, what, code);
    MPI_Abort(MPI_COMM_WORLD, 1);
}
#define CHECK(call) check(call, #call)

static int64_t start[4], count[4]; /* indices: record, levels, rows, columns */
static float* values;

static void share(int64_t n, int parts, int part, int64_t* first, int64_t* length) {
    *first = n * part / parts;
    *length = n * (part + 1) / parts - *first;
}

static void make_tile(void) {
    int grid[2] = {0, 0};
    MPI_Dims_create(ranks, 2, grid);
    count[0] = 1;
    count[1] = options.length[0];
    share(options.length[1], grid[0], rank / grid[1], &start[2], &count[2]);
    share(options.length[2], grid[1], rank % grid[1], &start[3], &count[3]);
    const size_t n = (size_t)(count[1] * count[2] * count[3]);
    values = malloc(n * sizeof *values);
    for (size_t i = 0; i < n; i++) values[i] = (float)i * 0.25f + (float)rank;
}

static const char* const names[4] = {"time", "lev", "lat", "lon"};

static void write_netcdf(void) {
    const int netcdf4 = strcmp(options.format, "netcdf4") == 0;
    int id, dims[4], v;
    CHECK(nc_create_par(options.path, netcdf4 ? NC_NETCDF4 : NC_64BIT_DATA, MPI_COMM_WORLD,
                        MPI_INFO_NULL, &id));
    if (!options.fill) CHECK(nc_set_fill(id, NC_NOFILL, NULL));
    for (int d = 0; d < 4; d++)
        CHECK(nc_def_dim(id, names[d], d == 0 ? NC_UNLIMITED : (size_t)options.length[d - 1],
                         &dims[d]));
    for (int i = 0; i < options.vars; i++) {
        char name[16];
        snprintf(name, sizeof name, "v%d", i);
        CHECK(nc_def_var(id, name, NC_FLOAT, 4, dims, &v));
        if (options.deflate > 0) CHECK(nc_def_var_deflate(id, v, 1, 1, options.deflate));
    }
    CHECK(nc_enddef(id));
    const size_t n[4] = {1, (size_t)count[1], (size_t)count[2], (size_t)count[3]};
    for (int i = 0; i < options.vars && !options.independent; i++)
        CHECK(nc_var_par_access(id, i, NC_COLLECTIVE));
    for (int r = 0; r < options.records; r++)
        for (int i = 0; i < options.vars; i++) {
            const size_t first[4] = {(size_t)r, 0, (size_t)start[2], (size_t)start[3]};
            CHECK(nc_put_vara_float(id, i, first, n, values));
        }
    CHECK(nc_close(id));
}

static void write_pnetcdf(int nonblocking) {
    int id, dims[4], v;
    CHECK(
        ncmpi_create(MPI_COMM_WORLD, options.path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &id));
    for (int d = 0; d < 4; d++)
        CHECK(ncmpi_def_dim(id, names[d], d == 0 ? NC_UNLIMITED : options.length[d - 1], &dims[d]));
    for (int i = 0; i < options.vars; i++) {
        char name[16];
        snprintf(name, sizeof name, "v%d", i);
        CHECK(ncmpi_def_var(id, name, NC_FLOAT, 4, dims, &v));
    }
    CHECK(ncmpi_enddef(id));
    const MPI_Offset n[4] = {1, count[1], count[2], count[3]};
    for (int r = 0; r < options.records; r++) {
        for (int i = 0; i < options.vars; i++) {
            const MPI_Offset first[4] = {r, 0, start[2], start[3]};
            if (nonblocking)
                CHECK(ncmpi_iput_vara_float(id, i, first, n, values, NULL));
            else
                CHECK(ncmpi_put_vara_float_all(id, i, first, n, values));
        }
        if (nonblocking) CHECK(ncmpi_wait_all(id, NC_REQ_ALL, NULL, NULL));
    }
    CHECK(ncmpi_close(id));
}

static tw_session session;

static void write_thalweg(void) {
    tw_file file;
    tw_decomposition tiles;
    char settings[64];
    snprintf(settings, sizeof settings, "format=%s; deflate=%d", options.format, options.deflate);
    CHECK(tw_decompose(session, "lev lat lon", 1, options.length, start + 1, count + 1, &tiles));
    CHECK(tw_create(session, options.path, settings, &file));
    CHECK(tw_def_dim(file, "time", TW_UNLIMITED));
    for (int i = 0; i < options.vars; i++) {
        char name[16];
        snprintf(name, sizeof name, "v%d", i);
        CHECK(tw_def_var(file, name, TW_FLOAT, "time lev lat lon", tiles));
    }
    for (int r = 0; r < options.records; r++) {
        for (int i = 0; i < options.vars; i++) {
            char name[16];
            snprintf(name, sizeof name, "v%d", i);
            CHECK(tw_put_record(file, name, tiles, r, TW_FLOAT, values,
                                count[1] * count[2] * count[3]));
        }
        CHECK(tw_end_step(file));
    }
    CHECK(tw_close(&file));
    CHECK(tw_free_decomposition(&tiles));
}

static void usage(void) {
    if (rank == 0)
        fprintf(stderr,
                "usage: netcdf_bench [method=netcdf|pnetcdf|pnetcdf-nonblocking|thalweg] "
                "[format=cdf5|netcdf4] [vars=N] [records=N] [lev=N] [lat=N] [lon=N] "
                "[deflate=N] [independent=1] [fill=1] [repeat=N] [path=FILE]\n");
    MPI_Finalize();
    exit(2);
}

int main(int argc, char** argv) {
    int repeat = 3;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 1; i < argc; i++) {
        char* const value = strchr(argv[i], '=');
        if (value == NULL) usage();
        *value = '\0';
        const char* const name = argv[i];
        const char* const text = value + 1;
        if (strcmp(name, "method") == 0)
            options.method = text;
        else if (strcmp(name, "format") == 0)
            options.format = text;
        else if (strcmp(name, "path") == 0)
            options.path = text;
        else if (strcmp(name, "vars") == 0)
            options.vars = atoi(text);
        else if (strcmp(name, "records") == 0)
            options.records = atoi(text);
        else if (strcmp(name, "lev") == 0)
            options.length[0] = atoll(text);
        else if (strcmp(name, "lat") == 0)
            options.length[1] = atoll(text);
        else if (strcmp(name, "lon") == 0)
            options.length[2] = atoll(text);
        else if (strcmp(name, "deflate") == 0)
            options.deflate = atoi(text);
        else if (strcmp(name, "independent") == 0)
            options.independent = atoi(text);
        else if (strcmp(name, "fill") == 0)
            options.fill = atoi(text);
        else if (strcmp(name, "repeat") == 0)
            repeat = atoi(text);
        else
            usage();
    }
    make_tile();
    const int own = strcmp(options.method, "thalweg") == 0;
    if (own) CHECK(tw_init(MPI_COMM_WORLD, "", &session));
    const double bytes = 4.0 * (double)options.length[0] * (double)options.length[1] *
                         (double)options.length[2] * options.vars * options.records;
    for (int i = 0; i < repeat; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double seconds = -MPI_Wtime();
        if (own)
            write_thalweg();
        else if (strcmp(options.method, "pnetcdf") == 0)
            write_pnetcdf(0);
        else if (strcmp(options.method, "pnetcdf-nonblocking") == 0)
            write_pnetcdf(1);
        else if (strcmp(options.method, "netcdf") == 0)
            write_netcdf();
        else
            usage();
        seconds += MPI_Wtime();
        MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (rank == 0)
            printf("%s %s: %.4f s, %.0f MiB/s\n", options.method, options.format, seconds,
                   bytes / seconds / 1048576);
        if (rank == 0) remove(options.path);
    }
    free(values);
    if (own) CHECK(tw_finalize(&session));
    MPI_Finalize();
    return 0;
}
