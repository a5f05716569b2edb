/* Writes or reads the grids of the other programs by this library's own calls: tw_put_record,
 * without a copy for GRID/nonblocking, and tw_get_box.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <thalweg/thalweg.h>

#include "cases.h"

static tw_session session;

static const char* text_of(int code) {
    (void)code;
    return tw_error_message(session);
}

static void run_grid(const Grid* g, const char* path, const char* way) {
    const int reads = strcmp(way, "reading") == 0, defers = strcmp(way, "nonblocking") == 0;
    const int64_t n = (int64_t)elements();
    float* const values = make_values((size_t)g->vars * elements());
    char name[16];
    tw_file file;
    tw_decomposition part;
    CHECK(tw_decompose(session, "lev lat lon", 1, g->length, my_start + 1, my_count + 1, &part));
    double begun = begin(reads ? NULL : path);
    if (reads) {
        CHECK(tw_open(session, path, "", &file));
    } else {
        CHECK(tw_create(session, path,
                        strcmp(way, "deflate") == 0 ? "format=netcdf4; deflate=1; shuffle=yes"
                        : strcmp(way, "netcdf4") == 0 || strcmp(way, "computing") == 0
                            ? "format=netcdf4"
                            : "format=cdf5",
                        &file));
        for (int d = 0; d < 4; d++)
            CHECK(tw_def_dim(file, names[d], d == 0 ? TW_UNLIMITED : g->length[d - 1]));
        for (int v = 0; v < g->vars; v++) {
            snprintf(name, sizeof name, "v%d", v);
            CHECK(tw_def_var(file, name, TW_FLOAT, "time lev lat lon", part));
        }
        CHECK(tw_enddef(file));
    }
    for (int r = 0; r < g->records; r++) {
        my_start[0] = r;
        for (int v = 0; v < g->vars; v++) {
            float* const at = values + v * n;
            snprintf(name, sizeof name, "v%d", v);
            if (reads)
                CHECK(tw_get_box(file, name, TW_FLOAT, my_start, my_count, NULL, at));
            else
                CHECK(tw_put_record_array(file, name, part, r, tw_dense(TW_FLOAT, at, n),
                                          defers ? TW_DEFERRED : 0));
        }
        if (!reads) CHECK(tw_end_step(file));
        const double idle = MPI_Wtime(); /* computation, which does not count */
        if (strcmp(way, "computing") == 0) usleep(300000);
        begun += MPI_Wtime() - idle;
    }
    CHECK(tw_close(&file));
    end(begun);
    CHECK(tw_free_decomposition(&part));
    free(values);
}

static int run(const char* name, const char* path, const char* map) {
    static int files;
    const char* way = NULL;
    const Grid* const grid = find_grid(name, &way);
    (void)map;
    if (grid == NULL) return 0;
    if (strcmp(way, "reading") == 0 && files++ == 0) run_grid(grid, path, "nonblocking");
    run_grid(grid, path, way);
    return 1;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int serial = argc > 1 && strncmp(argv[1], "serial/", 7) == 0;
    CHECK(serial ? tw_init_serial("", &session) : tw_init(MPI_COMM_WORLD, "", &session));
    const int code = run_twice(argc, argv);
    CHECK(tw_finalize(&session));
    MPI_Finalize();
    return code;
}
