/* Makes random calls of PnetCDF and prints their results on each rank: codes, lengths, and sums of
 * the data that were read. A run with the shim must print the same as a plain run. In each call the
 * ranks write different rows, so that the order of ranks does not matter.
 *
 * Usage: property SEED FILE, or property dump FILE.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { columns = 6, rows_each = 3, most_records = 4, most_values = 4096 };

static int rank, ranks, id, rows, dims[3];
static unsigned long shared_state, own_state;

static unsigned next_of(unsigned long* state) {
    *state = *state * 6364136223846793005UL + 1442695040888963407UL;
    return (unsigned)(*state >> 33);
}
static int all(int n) {
    return (int)(next_of(&shared_state) % (unsigned)n);
} /* same on all ranks */
static int own(int n) { return (int)(next_of(&own_state) % (unsigned)n); }

/* Number that determines whose rows a rank writes; -1: it changes from call to call. Independent
 * calls of two ranks have no order, so the number is fixed for them. */
static int fixed_turn = -1;

/* Hash of the results of a rank while the ranks make their calls one after another. */
static long long said;

static void say(const char* what, long long value) {
    long long values[64];
    if (fixed_turn >= 0) {
        said = said * 31 + value;
        return;
    }
    MPI_Gather(&value, 1, MPI_LONG_LONG, values, 1, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
    if (rank != 0) return;
    printf("%s", what);
    for (int r = 0; r < ranks; r++) printf(" %lld", values[r]);
    printf("\n");
}
#define SAY(call) say(#call, call)

static const nc_type types[] = {NC_INT, NC_DOUBLE, NC_SHORT, NC_FLOAT, NC_BYTE};
enum { variables = 10 }; /* five variables with records, and five of fixed size */
static int var[variables + 64], n_var;

static int is_record(int v) { return v < 5; }

static double values[most_values];
/* Makes values that fit the types: after a value that does not fit, PnetCDF 1.12 leaves requests of
 * varn and mput behind. */
static void make_fitting_values(int n) {
    for (int i = 0; i < n; i++) values[i] = own(100);
}
static void make_values(int n) {
    make_fitting_values(n);
    if (own(6) == 0) values[own(n > 0 ? n : 1)] = own(2) ? 1e9 : -300; /* may not fit */
}

/* A section of this rank's rows; for record variables, of some records. */
static MPI_Offset start[3], count[3], stride[3];
static int n_dims;
static int make_section(int v, int with_stride) {
    const int turn = fixed_turn < 0 ? all(ranks) : fixed_turn, mine = (rank + turn) % ranks;
    MPI_Offset* s = start;
    MPI_Offset* c = count;
    n_dims = is_record(v) ? 3 : 2;
    stride[0] = stride[1] = stride[2] = 1;
    if (is_record(v)) {
        *s = own(most_records);
        *c = 1 + own(2);
        if (*s + *c > most_records) *c = 1;
        s++, c++;
    }
    s[0] = mine * rows_each + own(rows_each);
    c[0] = own(4) == 0 ? 0 : 1 + own(rows_each - (int)(s[0] - mine * rows_each));
    s[1] = own(columns);
    c[1] = 1 + own(columns - (int)s[1]);
    if (with_stride) {
        stride[n_dims - 1] = 2;
        c[1] = (c[1] + 1) / 2;
    }
    int n = 1;
    for (int d = 0; d < n_dims; d++) n *= (int)count[d];
    return n;
}

static long long sum_of(const double* x, int n) {
    long long sum = 0;
    for (int i = 0; i < n; i++) sum = sum * 31 + (long long)x[i];
    return sum;
}

static void define(const char* path, int mode) {
    SAY(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | mode, MPI_INFO_NULL, &id));
    ncmpi_def_dim(id, "time", NC_UNLIMITED, &dims[0]);
    ncmpi_def_dim(id, "row", rows, &dims[1]);
    ncmpi_def_dim(id, "column", columns, &dims[2]);
    for (n_var = 0; n_var < variables; n_var++) {
        char name[16];
        snprintf(name, sizeof name, "v%d", n_var);
        SAY(ncmpi_def_var(id, name, types[n_var % 5], is_record(n_var) ? 3 : 2,
                          is_record(n_var) ? dims : dims + 1, &var[n_var]));
    }
    SAY(ncmpi_put_att_text(id, NC_GLOBAL, "title", 5, "hello"));
    SAY(ncmpi_enddef(id));
    /* Write everything first, so that no element is read that was never written. */
    for (int v = 0; v < n_var; v++) {
        const MPI_Offset first[] = {0, rank * rows_each, 0};
        const MPI_Offset n[] = {most_records, rows_each, columns};
        for (int i = 0; i < most_records * rows_each * columns; i++) values[i] = i % 50 + rank;
        SAY(ncmpi_put_vara_double_all(id, v, is_record(v) ? first : first + 1,
                                      is_record(v) ? n : n + 1, values));
    }
}

/* An order in memory in which the first dimension is the fastest. */
static MPI_Offset map[3];
static void make_map(void) {
    MPI_Offset step = 1;
    for (int k = 0; k < n_dims; k++) {
        map[k] = step;
        step *= count[k] > 0 ? count[k] : 1;
    }
}

static int pick(void) { return all(variables); }

static void put_blocking(int together) {
    const int v = pick(), form = all(6);
    const int n = make_section(v, form == 1);
    make_values(n);
    int code = 0;
    if (form == 0) {
        float x[most_values];
        for (int i = 0; i < n; i++) x[i] = (float)values[i];
        code = together ? ncmpi_put_vara_float_all(id, v, start, count, x)
                        : ncmpi_put_vara_float(id, v, start, count, x);
    } else if (form == 1) {
        code = together ? ncmpi_put_vars_double_all(id, v, start, count, stride, values)
                        : ncmpi_put_vars_double(id, v, start, count, stride, values);
    } else if (form == 2) { /* the order in memory has columns first */
        make_map();
        code = together ? ncmpi_put_varm_double_all(id, v, start, count, NULL, map, values)
                        : ncmpi_put_varm_double(id, v, start, count, NULL, map, values);
    } else if (form == 3) {
        long long x = own(90);
        code = together ? ncmpi_put_var1_longlong_all(id, v, start, &x)
                        : ncmpi_put_var1_longlong(id, v, start, &x);
    } else if (form == 4) {
        int x[2 * most_values];
        MPI_Datatype every_other;
        for (int i = 0; i < 2 * n; i++) x[i] = i;
        MPI_Type_vector(n, 1, 2, MPI_INT, &every_other);
        MPI_Type_commit(&every_other);
        code = together ? ncmpi_put_vara_all(id, v, start, count, x, n > 0, every_other)
                        : ncmpi_put_vara(id, v, start, count, x, n > 0, every_other);
        MPI_Type_free(&every_other);
    } else { /* single elements, and rows */
        MPI_Offset place[8][3], size[8][3];
        MPI_Offset *places[8], *sizes[8];
        int pieces = own(4), k = 0;
        const MPI_Offset row = start[n_dims - 2];
        for (int i = 0; i < pieces; i++) {
            for (int d = 0; d < n_dims; d++) size[i][d] = 1;
            if (is_record(v)) place[i][0] = own(most_records);
            place[i][n_dims - 2] = row;
            place[i][n_dims - 1] = i; /* let columns differ */
            places[i] = place[i];
            sizes[i] = size[i];
            k++;
        }
        make_fitting_values(k);
        code = together
                   ? ncmpi_put_varn_double_all(id, v, pieces, places, own(2) ? sizes : NULL, values)
                   : ncmpi_put_varn_double(id, v, pieces, places, sizes, values);
    }
    if (rank == 0) printf("form %d of variable %d\n", form, v);
    say("put", code);
}

static void get_blocking(int together) {
    const int v = pick(), form = all(3);
    const int n = make_section(v, form == 1);
    int code = 0;
    memset(values, 0, sizeof values);
    if (form == 0)
        code = together ? ncmpi_get_vara_double_all(id, v, start, count, values)
                        : ncmpi_get_vara_double(id, v, start, count, values);
    else if (form == 1)
        code = together ? ncmpi_get_vars_double_all(id, v, start, count, stride, values)
                        : ncmpi_get_vars_double(id, v, start, count, stride, values);
    else {
        MPI_Offset place[4][3];
        MPI_Offset* places[4];
        const int pieces = own(4);
        for (int i = 0; i < pieces; i++) {
            memcpy(place[i], start, sizeof start);
            if (is_record(v)) place[i][0] = own(most_records);
            place[i][n_dims - 1] = i; /* PnetCDF 1.12 cannot read an element twice, so let
                                       * columns differ */
            places[i] = place[i];
        }
        code = together ? ncmpi_get_varn_double_all(id, v, pieces, places, NULL, values)
                        : ncmpi_get_varn_double(id, v, pieces, places, NULL, values);
    }
    say("get", code);
    say("sum", sum_of(values, n < 8 ? 8 : n));
}

/* Forms of requests. */
enum { of_box, of_strides, of_pieces, of_map, forms };

/* The rows of the section as pieces. */
static MPI_Offset piece_start[16][3], piece_count[16][3];
static MPI_Offset *piece_starts[16], *piece_counts[16];
static int make_pieces(void) {
    const int records = n_dims == 3 ? (int)count[0] : 1, lines = (int)count[n_dims - 2];
    for (int i = 0; i < records * lines; i++) {
        memcpy(piece_start[i], start, sizeof start);
        if (n_dims == 3) piece_start[i][0] += i / lines;
        piece_start[i][n_dims - 2] += i % lines;
        for (int k = 0; k < n_dims; k++) piece_count[i][k] = k == n_dims - 1 ? count[k] : 1;
        piece_starts[i] = piece_start[i];
        piece_counts[i] = piece_count[i];
    }
    return records * lines;
}

static int post_put(int v, int form, int buffered, const double* x, int* request) {
    make_map();
    if (form == of_strides)
        return buffered ? ncmpi_bput_vars_double(id, v, start, count, stride, x, request)
                        : ncmpi_iput_vars_double(id, v, start, count, stride, x, request);
    if (form == of_pieces) {
        const int n = make_pieces();
        return buffered ? ncmpi_bput_varn_double(id, v, n, piece_starts, piece_counts, x, request)
                        : ncmpi_iput_varn_double(id, v, n, piece_starts, piece_counts, x, request);
    }
    if (form == of_map)
        return buffered ? ncmpi_bput_varm_double(id, v, start, count, NULL, map, x, request)
                        : ncmpi_iput_varm_double(id, v, start, count, NULL, map, x, request);
    return buffered ? ncmpi_bput_vara_double(id, v, start, count, x, request)
                    : ncmpi_iput_vara_double(id, v, start, count, x, request);
}

static int post_get(int v, int form, double* x, int* request) {
    make_map();
    if (form == of_strides) return ncmpi_iget_vars_double(id, v, start, count, stride, x, request);
    if (form == of_pieces)
        return ncmpi_iget_varn_double(id, v, make_pieces(), piece_starts, piece_counts, x, request);
    if (form == of_map) return ncmpi_iget_varm_double(id, v, start, count, NULL, map, x, request);
    return ncmpi_iget_vara_double(id, v, start, count, x, request);
}

/* Posts requests, at most one for each variable, so that their order does not matter. */
static void requests(int together) {
    enum { most = 8, size = most_records * rows_each * columns };
    static double x[most][size], y[most][size];
    int ids[most], statuses[most], n = own(4), codes = 0, lengths[most];
    const int first = all(variables), buffered = all(2);
    const int gets = all(2);
    if (buffered) say("attach", ncmpi_buffer_attach(id, 4000));
    for (int i = 0; i < most; i++) ids[i] = NC_REQ_NULL;
    for (int i = 0; i < 4; i++) {
        const int v = (first + i) % variables, form = all(forms);
        lengths[i] = make_section(v, form == of_strides);
        if (form == of_pieces)
            make_fitting_values(lengths[i]);
        else
            make_values(lengths[i]);
        if (i >= n) continue;
        memcpy(x[i], values, sizeof x[i]);
        codes = codes * 100 + post_put(v, form, buffered, x[i], &ids[2 * i]);
        memset(y[i], 0, sizeof y[i]);
        if (gets) codes = codes * 100 + post_get(v, form, y[i], &ids[2 * i + 1]);
    }
    say("posted", codes);
    for (int i = 0; i < 2 * n; i++) codes = codes * 7 + ids[i];
    say("ids", codes);
    SAY(ncmpi_inq_nreqs(id, &codes));
    say("requests", codes);
    MPI_Offset usage = 0;
    if (buffered) say("usage", (ncmpi_inq_buffer_usage(id, &usage), usage));
    if (own(5) == 0 && n > 0) codes = ncmpi_cancel(id, 1, ids, statuses);
    say("cancelled", codes);
    codes = together ? ncmpi_wait_all(id, own(3) ? 2 * n : NC_REQ_ALL, ids, statuses)
                     : ncmpi_wait(id, 2 * n, ids, statuses);
    say("waited", codes);
    codes = 0;
    for (int i = 0; i < n && gets; i++) codes = codes * 31 + (int)sum_of(y[i], lengths[i]);
    say("got", codes);
    SAY(ncmpi_inq_nreqs(id, &codes));
    say("left", codes);
    if (buffered) say("detach", ncmpi_buffer_detach(id));
}

static void several(void) {
    int vars[2] = {all(5), 5 + all(5)};
    MPI_Offset starts[2][3], counts[2][3];
    MPI_Offset *s[2], *c[2];
    static double x[2][most_values];
    double* bufs[2] = {x[0], x[1]};
    for (int i = 0; i < 2; i++) {
        const int n = make_section(vars[i], 0);
        make_fitting_values(n);
        memcpy(x[i], values, sizeof values);
        memcpy(starts[i], start, sizeof start);
        memcpy(counts[i], count, sizeof count);
        s[i] = starts[i];
        c[i] = counts[i];
    }
    say("mput", ncmpi_mput_vara_double_all(id, 2, vars, s, c, bufs));
    memset(x, 0, sizeof x);
    say("mget", ncmpi_mget_vara_double_all(id, 2, vars, s, c, bufs));
    say("sums", sum_of(x[0], 20) + sum_of(x[1], 20));
}

/* Makes calls that are wrong on all ranks: if only some are, PnetCDF 1.12 may hang. */
static void wrong(void) {
    const int v = pick(), kind = all(7), here = all(2);
    make_section(v, 0);
    make_values(most_records * rows_each * columns);
    if (here && kind == 0) start[n_dims - 1] = columns + 1;
    if (here && kind == 1) count[n_dims - 1] = columns + 1;
    if (here && kind == 2) count[0] = -1;
    if (here && kind == 3) stride[0] = 0;
    if (kind < 4) say("wrong put", ncmpi_put_vars_double_all(id, v, start, count, stride, values));
    if (kind == 4) say("wrong variable", ncmpi_put_vara_double_all(id, 77, start, count, values));
    if (kind == 5) say("wrong text", ncmpi_put_vara_text_all(id, v, start, count, "abc"));
    if (kind == 6) {
        if (here && is_record(v)) start[0] = 50;
        if (here && !is_record(v)) start[0] = rows + 1;
        say("wrong get", ncmpi_get_vara_double_all(id, v, start, count, values));
    }
}

static void inquire(void) {
    MPI_Offset length = 0;
    int n = 0, format = 0;
    SAY(ncmpi_inq_dimlen(id, dims[0], &length));
    say("records", length);
    SAY(ncmpi_inq_nvars(id, &n));
    say("variables", n);
    SAY(ncmpi_inq_format(id, &format));
    say("format", format);
}

static void redefine(int step) {
    char name[64] = "";
    snprintf(name, sizeof name, "att%d", step % 3);
    say("late attribute", ncmpi_put_att_text(id, NC_GLOBAL, "title", all(2) ? 5 : 50, name));
    say("late attribute", ncmpi_put_att_text(id, NC_GLOBAL, "none", 5, name));
    SAY(ncmpi_redef(id));
    SAY(ncmpi_redef(id));
    double x = step;
    say("attribute", ncmpi_put_att_double(id, own(2) ? 0 : 0, name, NC_INT, 1, &x));
    say("attribute", ncmpi_put_att_double(id, 1, name, NC_SHORT, 1, &values[0]));
    say("put in define mode", ncmpi_put_vara_double_all(id, 0, start, count, values));
    SAY(ncmpi_enddef(id));
    SAY(ncmpi_enddef(id));
}

static void reopen(const char* path) {
    SAY(ncmpi_close(id));
    SAY(ncmpi_open(MPI_COMM_WORLD, path, all(2) ? NC_WRITE : NC_NOWRITE, MPI_INFO_NULL, &id));
    get_blocking(1);
    put_blocking(1);
    get_blocking(1);
    SAY(ncmpi_close(id));
    SAY(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &id));
}

static void dump(const char* path) {
    int n = 0;
    SAY(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &id));
    SAY(ncmpi_inq_nvars(id, &n));
    inquire();
    for (int v = 0; v < n; v++) {
        int attributes = 0, no_fill = 0, dim[4], d = 0;
        MPI_Offset size = 1, length = 0;
        char name[NC_MAX_NAME + 1];
        nc_type type;
        ncmpi_inq_var(id, v, name, &type, &d, dim, &attributes);
        for (int i = 0; i < d; i++) ncmpi_inq_dimlen(id, dim[i], &length), size *= length;
        if (rank == 0) printf("%s %d %d %d\n", name, type, d, attributes);
        for (int a = 0; a < attributes; a++) {
            double x[4] = {0};
            ncmpi_inq_attname(id, v, a, name);
            ncmpi_get_att_double(id, v, name, x);
            if (rank == 0) printf("  %s %g\n", name, x[0]);
        }
        double* x = calloc((size_t)size, sizeof *x);
        say("read", ncmpi_get_var_double_all(id, v, x));
        say("sum", sum_of(x, (int)size) + no_fill);
        free(x);
    }
    SAY(ncmpi_close(id));
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 3) MPI_Abort(MPI_COMM_WORLD, 2);
    rows = ranks * rows_each;
    if (strcmp(argv[1], "dump") == 0) {
        dump(argv[2]);
        MPI_Finalize();
        return 0;
    }
    shared_state = strtoul(argv[1], NULL, 10) * 2654435761UL + 1;
    own_state = shared_state * 31 + (unsigned long)rank * 7919;
    const int modes[] = {0, NC_64BIT_OFFSET, NC_64BIT_DATA};
    define(argv[2], modes[all(3)]);
    for (int step = 0; step < 12; step++) {
        const int what = all(12);
        if (rank == 0) printf("step %d: %d\n", step, what);
        if (what < 3)
            put_blocking(1);
        else if (what < 5)
            requests(1);
        else if (what == 5)
            get_blocking(1);
        else if (what == 6)
            several();
        else if (what == 7)
            wrong();
        else if (what == 8)
            redefine(step);
        else if (what == 9)
            inquire();
        else if (what == 10)
            reopen(argv[2]);
        else {
            SAY(ncmpi_begin_indep_data(id));
            say("wrong mode", ncmpi_put_vara_double_all(id, 0, start, count, values));
            fixed_turn = all(ranks);
            /* Write one rank after another: Open MPI writes data with gaps by reading and rewriting
             * the gaps. */
            for (int turn = 0; turn < ranks; turn++) {
                for (int i = 0; i < 3 && turn == rank; i++) {
                    put_blocking(0);
                    if (all(2)) requests(0);
                }
                MPI_Barrier(MPI_COMM_WORLD);
            }
            fixed_turn = -1;
            say("independent", said);
            SAY(ncmpi_end_indep_data(id));
            SAY(ncmpi_sync(id));
            say("wrong mode", ncmpi_put_vara_double(id, 0, start, count, values));
        }
    }
    inquire();
    SAY(ncmpi_close(id));
    MPI_Finalize();
    return 0;
}
