/* Writes or reads by the calls of PnetCDF alone, as one of several programs does.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <pnetcdf.h>

#include "cases.h"

static const char* text_of(int code) { return ncmpi_strerror(code); }

static void run_grid(const Grid* g, const char* path, const char* way) {
    const int reads = strcmp(way, "reading") == 0, blocks = strcmp(way, "blocking") == 0;
    int id = 0, dims[4], variable = 0;
    MPI_Offset first[4], n[4];
    for (int d = 0; d < 4; d++) first[d] = my_start[d], n[d] = my_count[d];
    float* const values = make_values((size_t)g->vars * elements());
    const double begun = begin(reads ? NULL : path);
    if (reads) {
        CHECK(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &id));
    } else {
        CHECK(ncmpi_create(MPI_COMM_WORLD, path, NC_64BIT_DATA, MPI_INFO_NULL, &id));
        for (int d = 0; d < 4; d++)
            CHECK(ncmpi_def_dim(id, names[d], d == 0 ? NC_UNLIMITED : g->length[d - 1], &dims[d]));
        for (int v = 0; v < g->vars; v++) {
            char name[16];
            snprintf(name, sizeof name, "v%d", v);
            CHECK(ncmpi_def_var(id, name, NC_FLOAT, 4, dims, &variable));
        }
        CHECK(ncmpi_enddef(id));
    }
    for (int r = 0; r < g->records; r++) {
        first[0] = r;
        for (int v = 0; v < g->vars; v++) {
            float* const at = values + (size_t)v * elements();
            if (reads)
                CHECK(ncmpi_get_vara_float_all(id, v, first, n, at));
            else if (blocks)
                CHECK(ncmpi_put_vara_float_all(id, v, first, n, at));
            else
                CHECK(ncmpi_iput_vara_float(id, v, first, n, at, NULL));
        }
        if (!reads && !blocks) CHECK(ncmpi_wait_all(id, NC_REQ_ALL, NULL, NULL));
    }
    CHECK(ncmpi_close(id));
    end(begun);
    free(values);
}

enum { most_maps = 6, small_variables = 23, small_elements = 8 };

/* The runs of elements that a rank holds of one decomposition. */
typedef struct {
    int dims, pieces, elements;
    int length[2];
    MPI_Offset **starts, **counts; /* the first number of each is that of the record */
} Runs;

static int* numbers(int id, const char* name, int map, int* n) {
    char full[64];
    int variable = 0, dim = 0;
    MPI_Offset length = 0;
    snprintf(full, sizeof full, "D%d.%s", map, name);
    CHECK(ncmpi_inq_varid(id, full, &variable));
    CHECK(ncmpi_inq_vardimid(id, variable, &dim));
    CHECK(ncmpi_inq_dimlen(id, dim, &length));
    int* const values = malloc((size_t)length * sizeof *values);
    CHECK(ncmpi_get_var_int_all(id, variable, values));
    *n = (int)length;
    return values;
}

static Runs read_runs(int id, int map) {
    Runs r = {0};
    char name[32];
    MPI_Offset n = 0;
    int holders = 0, runs = 0;
    snprintf(name, sizeof name, "D%d.dims", map);
    CHECK(ncmpi_inq_attlen(id, NC_GLOBAL, name, &n));
    r.dims = (int)n;
    CHECK(ncmpi_get_att_int(id, NC_GLOBAL, name, r.length));
    int* const each = numbers(id, "nreqs", map, &holders);
    int* const offsets = numbers(id, "offsets", map, &runs);
    int* const lengths = numbers(id, "lengths", map, &runs);
    int first = 0, at = 0;
    for (int holder = 0; holder < holders; at += each[holder++]) {
        if (holder * ranks / holders != rank) continue;
        if (r.pieces == 0) first = at;
        r.pieces += each[holder];
    }
    MPI_Offset* const all = malloc(6 * (size_t)(r.pieces + 1) * sizeof *all);
    r.starts = malloc(2 * (size_t)(r.pieces + 1) * sizeof *r.starts);
    r.counts = r.starts + r.pieces;
    for (int p = 0; p < r.pieces; p++) {
        MPI_Offset* const start = all + 6 * p;
        MPI_Offset* const count = start + 3;
        const int offset = offsets[first + p];
        start[1] = r.dims == 1 ? offset : offset / r.length[1];
        start[2] = r.dims == 1 ? 0 : offset % r.length[1];
        count[0] = count[1] = 1;
        count[r.dims] = lengths[first + p];
        r.starts[p] = start;
        r.counts[p] = count;
        r.elements += lengths[first + p];
    }
    free(each);
    free(offsets);
    free(lengths);
    return r;
}

/* The number of variables on each decomposition, so that three records of F and two of G have the
 * calls of E3SM-IO's runs. */
static const int variables_of_f[most_maps] = {2, 106, 36}, variables_of_g[] = {6, 1, 24, 2, 2, 2};

/* Writes records of E3SM's case F or G. Each rank takes equal shares of the map's ranks, whose runs
 * of elements are the pieces of iput_varn. As in E3SM-IO, one call puts each variable of a record,
 * rank 0 puts more variables that are small, and one wait_all writes the record. Prints the seconds
 * of the first record, the mean seconds of a later one, and the seconds from create to close. */
static void write_e3sm(char which, const char* map, const char* path, int records) {
    const int f = which == 'f', maps = f ? 3 : 6;
    const int* const n = f ? variables_of_f : variables_of_g;
    const nc_type type = f ? NC_FLOAT : NC_DOUBLE;
    Runs runs[most_maps];
    int id = 0, dims[3], variables = 0, most = small_elements, small[small_variables];
    CHECK(ncmpi_open(MPI_COMM_WORLD, map, NC_NOWRITE, MPI_INFO_NULL, &id));
    for (int m = 0; m < maps; m++) {
        runs[m] = read_runs(id, m + 1);
        if (runs[m].elements > most) most = runs[m].elements;
    }
    CHECK(ncmpi_close(id));
    double* const values = calloc((size_t)most, sizeof *values);
    for (int i = 0; i < most; i++) {
        if (f)
            ((float*)values)[i] = (float)(rank + i);
        else
            values[i] = rank + i;
    }
    const double begun = begin(path);
    CHECK(ncmpi_create(MPI_COMM_WORLD, path, NC_64BIT_DATA, MPI_INFO_NULL, &id));
    CHECK(ncmpi_def_dim(id, "time", NC_UNLIMITED, &dims[0]));
    for (int m = 0; m < maps; m++) {
        for (int d = 0; d < runs[m].dims; d++) {
            char name[16];
            snprintf(name, sizeof name, "d%d_%d", m, d);
            CHECK(ncmpi_def_dim(id, name, runs[m].length[d], &dims[d + 1]));
        }
        for (int i = 0; i < n[m]; i++) {
            char name[16];
            snprintf(name, sizeof name, "v%d", variables++);
            CHECK(ncmpi_def_var(id, name, type, runs[m].dims + 1, dims, &small[0]));
            CHECK(ncmpi_put_att_text(id, small[0], "units", 3, "m/s"));
        }
    }
    CHECK(ncmpi_def_dim(id, "small", small_elements, &dims[1]));
    for (int i = 0; i < small_variables; i++) {
        char name[16];
        snprintf(name, sizeof name, "s%d", i);
        CHECK(ncmpi_def_var(id, name, type, 2, dims, &small[i]));
    }
    CHECK(ncmpi_enddef(id));
    double first = 0, last = begun;
    for (int record = 0; record < records; record++) {
        int variable = 0;
        for (int m = 0; m < maps; m++) {
            for (int p = 0; p < runs[m].pieces; p++) runs[m].starts[p][0] = record;
            for (int i = 0; i < n[m]; i++, variable++)
                CHECK(ncmpi_iput_varn(id, variable, runs[m].pieces, runs[m].starts, runs[m].counts,
                                      values, runs[m].elements, f ? MPI_FLOAT : MPI_DOUBLE, NULL));
        }
        const MPI_Offset start[2] = {record, 0}, count[2] = {1, small_elements};
        for (int i = 0; i < small_variables && rank == 0; i++)
            CHECK(ncmpi_iput_vara(id, small[i], start, count, values, small_elements,
                                  f ? MPI_FLOAT : MPI_DOUBLE, NULL));
        CHECK(ncmpi_wait_all(id, NC_REQ_ALL, NULL, NULL));
        last = MPI_Wtime();
        if (record == 0) first = last - begun;
    }
    const double later = records > 1 ? (last - begun - first) / (records - 1) : first;
    CHECK(ncmpi_close(id));
    if (rank == 0)
        printf("first record %.4f, a later one %.4f, in all %.5f s\n", first, later,
               MPI_Wtime() - begun);
}

/* One rank writes 256 MB in pieces of 1 MiB, while the others do nothing or put nothing. */
static void write_alone(const char* path, int together) {
    enum { piece = 1 << 18, pieces = 244 };
    int id = 0, dim = 0, variable = 0;
    float* const values = make_values(piece);
    const double begun = begin(path);
    CHECK(ncmpi_create(MPI_COMM_WORLD, path, NC_64BIT_DATA, MPI_INFO_NULL, &id));
    CHECK(ncmpi_def_dim(id, "x", (MPI_Offset)piece * pieces, &dim));
    CHECK(ncmpi_def_var(id, "v", NC_FLOAT, 1, &dim, &variable));
    CHECK(ncmpi_enddef(id));
    if (!together) CHECK(ncmpi_begin_indep_data(id));
    for (MPI_Offset i = 0; i < pieces && (together || rank == 0); i++) {
        const MPI_Offset start = i * piece, count = rank == 0 ? piece : 0;
        if (together)
            CHECK(ncmpi_put_vara_float_all(id, variable, &start, &count, values));
        else
            CHECK(ncmpi_put_vara_float(id, variable, &start, &count, values));
    }
    if (!together) CHECK(ncmpi_end_indep_data(id));
    CHECK(ncmpi_close(id));
    end(begun);
    free(values);
}

/* Inquires lengths, and enters and leaves define mode. */
static void ask(const char* path) {
    int id = 0, dim = 0, variable = 0;
    MPI_Offset length = 0;
    CHECK(ncmpi_create(MPI_COMM_WORLD, path, NC_64BIT_DATA, MPI_INFO_NULL, &id));
    CHECK(ncmpi_def_dim(id, "x", 1000, &dim));
    CHECK(ncmpi_def_var(id, "v", NC_FLOAT, 1, &dim, &variable));
    CHECK(ncmpi_enddef(id));
    const double begun = begin(NULL);
    for (int i = 0; i < 1000; i++) {
        for (int n = 0; n < 100; n++) CHECK(ncmpi_inq_dimlen(id, dim, &length));
        CHECK(ncmpi_redef(id));
        CHECK(ncmpi_enddef(id));
    }
    end(begun);
    CHECK(ncmpi_close(id));
}

/* Posts a small put and waits for it, again and again. */
static void write_pairs(const char* path) {
    enum { pairs = 200, each = 1000 };
    int id = 0, dims[2], variable = 0;
    float values[each] = {0};
    CHECK(ncmpi_create(MPI_COMM_WORLD, path, NC_64BIT_DATA, MPI_INFO_NULL, &id));
    CHECK(ncmpi_def_dim(id, "time", NC_UNLIMITED, &dims[0]));
    CHECK(ncmpi_def_dim(id, "x", (MPI_Offset)each * ranks, &dims[1]));
    CHECK(ncmpi_def_var(id, "v", NC_FLOAT, 2, dims, &variable));
    CHECK(ncmpi_enddef(id));
    const double begun = begin(NULL);
    for (int i = 0; i < pairs; i++) {
        const MPI_Offset start[2] = {i, (MPI_Offset)each * rank}, count[2] = {1, each};
        CHECK(ncmpi_iput_vara_float(id, variable, start, count, values, NULL));
        CHECK(ncmpi_wait_all(id, NC_REQ_ALL, NULL, NULL));
    }
    end(begun);
    CHECK(ncmpi_close(id));
}

static int run(const char* name, const char* path, const char* map) {
    static int files;
    const char* way = NULL;
    const Grid* const grid = find_grid(name, &way);
    if (grid != NULL && strcmp(way, "reading") == 0 && files++ == 0)
        run_grid(grid, path, "nonblocking");
    if (grid != NULL)
        run_grid(grid, path, way);
    else if (strcmp(name, "alone") == 0 || strcmp(name, "alone-together") == 0)
        write_alone(path, strcmp(name, "alone") != 0);
    else if (strcmp(name, "pairs") == 0)
        write_pairs(path);
    else if (strcmp(name, "ask") == 0)
        ask(path);
    else if (map != NULL && (strcmp(name, "e3sm-f") == 0 || strcmp(name, "e3sm-g") == 0))
        write_e3sm(name[5], map, path, name[5] == 'f' ? 3 : 8);
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
