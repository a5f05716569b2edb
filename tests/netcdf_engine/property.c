/* Random programs of define, put, get and sync on a file with a communicator, compared with a model
 * in memory: what the ranks read while they write, and what netCDF-C reads from the file.
 *
 * Usage: property FIRST LAST [regular]: seeds; regular: mostly puts of whole records, one variable
 * after another, with collective access
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <mpi.h>
#include <netcdf.h>
#include <netcdf_par.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { max_dims = 4, max_vars = 10, max_records = 7, max_elements = 4096 };

static int rank, ranks;
static unsigned seed_now;

#define CHECK(call) check(call, #call, __LINE__)
static void fail(const char* what, int line) {
    fprintf(stderr, "seed %u, rank %d, line %d: %s\n", seed_now, rank, line, what);
    fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
}
static void check(int code, const char* what, int line) {
    if (code == 0) return;
    fprintf(stderr, "code %d (%s): ", code, nc_strerror(code));
    fail(what, line);
}
static void expect(int code, int wanted, int line) {
    char text[80];
    if (code == wanted) return;
    snprintf(text, sizeof text, "code %d instead of %d", code, wanted);
    fail(text, line);
}

/* A generator of random numbers, with the same sequence on all ranks. */
static unsigned long long state;
static unsigned next_number(unsigned n) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(state >> 33U) % n;
}

struct variable {
    char name[16];
    nc_type type;
    int n, dims[max_dims];
    int record;
    size_t length[max_dims]; /* length along each dimension; max_records for the record dimension */
    double value[max_elements];
    char written[max_elements];
    int collective;
    int filtered; /* the variable has a filter, so its access is collective */
    int waits;    /* number of puts since the last collective call */
};

static int mode, unlimited, records, vars;
static int regular, whole_record = -1; /* record of which the next put is to put all; -1: none */
static int dimension_id[4];
static size_t dimension_length[4]; /* 0: unlimited */
static struct variable variables[max_vars];

static int is_netcdf4(void) { return (mode & NC_NETCDF4) != 0; }

static void define_variable(int id, struct variable* v, int number) {
    int found = 0;
    snprintf(v->name, sizeof v->name, "v%d", number);
    CHECK(nc_def_var(id, v->name, v->type, v->n, v->dims, &found));
    if (found != number) fail("id of a variable", __LINE__);
    memset(v->written, 0, sizeof v->written);
}

static void choose_variable(struct variable* v) {
    const int extended = mode == NC_64BIT_DATA || mode == NC_NETCDF4;
    v->type = (nc_type)(1 + next_number(extended ? 11 : 6));
    v->n = 0;
    v->record = regular || (unlimited && next_number(3) > 0);
    if (v->record) {
        v->dims[0] = dimension_id[0];
        v->length[v->n++] = max_records;
    }
    for (int d = 1; d < 4; d++)
        if (next_number(3) > 0) {
            v->dims[v->n] = dimension_id[d];
            v->length[v->n++] = dimension_length[d];
        }
    v->collective = 0;
    v->waits = 0;
    v->filtered = 0;
}

static void attributes(int id, int varid, int number) {
    const short some[3] = {1, (short)number, -7};
    CHECK(nc_put_att_short(id, varid, "numbers", NC_INT, 1 + (size_t)(number % 3), some));
    CHECK(nc_put_att_text(id, varid, "text", (size_t)(number % 9), "some text"));
}

static double value_of(int step, size_t element) {
    return (double)((step * 37 + (int)element) % 100);
}

static size_t size_of(nc_type type) {
    static const size_t sizes[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
    return sizes[type];
}

static void store(nc_type type, void* to, size_t at, double value) {
    switch (type) {
        case NC_BYTE: ((signed char*)to)[at] = (signed char)value; break;
        case NC_CHAR: ((char*)to)[at] = (char)value; break;
        case NC_SHORT: ((short*)to)[at] = (short)value; break;
        case NC_INT: ((int*)to)[at] = (int)value; break;
        case NC_FLOAT: ((float*)to)[at] = (float)value; break;
        case NC_DOUBLE: ((double*)to)[at] = value; break;
        case NC_UBYTE: ((unsigned char*)to)[at] = (unsigned char)value; break;
        case NC_USHORT: ((unsigned short*)to)[at] = (unsigned short)value; break;
        case NC_UINT: ((unsigned*)to)[at] = (unsigned)value; break;
        case NC_INT64: ((long long*)to)[at] = (long long)value; break;
        default: ((unsigned long long*)to)[at] = (unsigned long long)value; break;
    }
}

static double load(nc_type type, const void* from, size_t at) {
    switch (type) {
        case NC_BYTE: return ((const signed char*)from)[at];
        case NC_CHAR: return ((const char*)from)[at];
        case NC_SHORT: return ((const short*)from)[at];
        case NC_INT: return ((const int*)from)[at];
        case NC_FLOAT: return ((const float*)from)[at];
        case NC_DOUBLE: return ((const double*)from)[at];
        case NC_UBYTE: return ((const unsigned char*)from)[at];
        case NC_USHORT: return ((const unsigned short*)from)[at];
        case NC_UINT: return ((const unsigned*)from)[at];
        case NC_INT64: return (double)((const long long*)from)[at];
        default: return (double)((const unsigned long long*)from)[at];
    }
}

static double fill_of(nc_type type) {
    static const double fills[] = {0,
                                   NC_FILL_BYTE,
                                   NC_FILL_CHAR,
                                   NC_FILL_SHORT,
                                   NC_FILL_INT,
                                   (double)NC_FILL_FLOAT,
                                   NC_FILL_DOUBLE,
                                   NC_FILL_UBYTE,
                                   NC_FILL_USHORT,
                                   NC_FILL_UINT,
                                   (double)NC_FILL_INT64,
                                   (double)NC_FILL_UINT64};
    return fills[type];
}

#define BY_TYPE(call, type, ...)                                                                   \
    ((type) == NC_BYTE     ? call##_schar(__VA_ARGS__(signed char*) data)                          \
     : (type) == NC_CHAR   ? call##_text(__VA_ARGS__(char*) data)                                  \
     : (type) == NC_SHORT  ? call##_short(__VA_ARGS__(short*) data)                                \
     : (type) == NC_INT    ? call##_int(__VA_ARGS__(int*) data)                                    \
     : (type) == NC_FLOAT  ? call##_float(__VA_ARGS__(float*) data)                                \
     : (type) == NC_DOUBLE ? call##_double(__VA_ARGS__(double*) data)                              \
     : (type) == NC_UBYTE  ? call##_uchar(__VA_ARGS__(unsigned char*) data)                        \
     : (type) == NC_USHORT ? call##_ushort(__VA_ARGS__(unsigned short*) data)                      \
     : (type) == NC_UINT   ? call##_uint(__VA_ARGS__(unsigned*) data)                              \
     : (type) == NC_INT64  ? call##_longlong(__VA_ARGS__(long long*) data)                         \
                           : call##_ulonglong(__VA_ARGS__(unsigned long long*) data))
#define COMMA ,

/* A section of a variable. The ranks divide it along one dimension, or all ranks have the same
 * section, or one rank has all of it. */
struct section {
    size_t start[max_dims], count[max_dims];
    ptrdiff_t stride[max_dims], map[max_dims];
};

static size_t volume(const struct variable* v, const struct section* s) {
    size_t n = 1;
    for (int d = 0; d < v->n; d++) n *= s->count[d];
    return n;
}

static void choose_section(const struct variable* v, size_t record_limit, struct section* s) {
    for (int d = 0; d < v->n; d++) {
        const size_t length = d == 0 && v->record ? record_limit : v->length[d];
        s->stride[d] = next_number(4) == 0 ? 2 : 1;
        s->start[d] = length == 0 ? 0 : next_number((unsigned)length);
        const size_t most = length == 0 ? 0 : (length - s->start[d] - 1) / (size_t)s->stride[d] + 1;
        s->count[d] = most == 0 ? 0 : 1 + next_number((unsigned)most);
        if (next_number(3) == 0 && s->stride[d] == 1 && !(d == 0 && v->record)) {
            s->start[d] = 0;
            s->count[d] = length;
        }
    }
}

/* Reduces a section to the part of one rank. */
static void part(const struct variable* v, int way, int who, struct section* s) {
    if (way == 0 && v->n > 0) { /* the ranks divide the longest dimension */
        int d = 0;
        for (int i = 1; i < v->n; i++)
            if (s->count[i] > s->count[d]) d = i;
        const size_t n = s->count[d];
        const size_t from = n * (size_t)who / (size_t)ranks,
                     to = n * (size_t)(who + 1) / (size_t)ranks;
        s->start[d] += from * (size_t)s->stride[d];
        s->count[d] = to - from;
        if (s->count[d] == 0) s->start[d] = 0;
    } else if (way == 2 && who != (int)(state % 7) % ranks) {
        for (int d = 0; d < v->n; d++) s->count[d] = 0, s->start[d] = 0;
    }
}

/* Calls visit(position in the variable, position in memory) for each element of a section. */
static void for_elements(const struct variable* v, const struct section* s, const void* context,
                         void (*visit)(const void*, size_t, size_t)) {
    const size_t n = volume(v, s);
    for (size_t i = 0; i < n; i++) {
        size_t rest = i, element = 0, memory = 0, factor = 1;
        for (int d = v->n - 1; d >= 0; d--) {
            const size_t k = rest % s->count[d];
            rest /= s->count[d];
            element += factor * (s->start[d] + k * (size_t)s->stride[d]);
            factor *= v->length[d];
            memory += k * (size_t)s->map[d];
        }
        visit(context, element, memory);
    }
}

struct filling {
    struct variable* v;
    nc_type type;
    void* data;
    int step;
};
static void fill_memory(const void* context, size_t element, size_t memory) {
    const struct filling* f = context;
    store(f->type, f->data, memory, value_of(f->step, element));
}
static void fill_model(const void* context, size_t element, size_t memory) {
    const struct filling* f = context;
    (void)memory;
    f->v->value[element] = value_of(f->step, element);
    f->v->written[element] = 1;
}
static double wanted(const struct variable* v, size_t element) {
    return v->written[element] ? v->value[element] : fill_of(v->type);
}
static void compare_memory(const void* context, size_t element, size_t memory) {
    const struct filling* f = context;
    const double read = load(f->type, f->data, memory);
    if (read == wanted(f->v, element)) return;
    fprintf(stderr, "step %d, %s: element %zu: %g instead of %g: ", f->step, f->v->name, element,
            read, wanted(f->v, element));
    fail("value", __LINE__);
}

static void dense_map(const struct variable* v, struct section* s, int transpose) {
    ptrdiff_t factor = 1;
    for (int i = v->n - 1; i >= 0; i--) {
        const int d = transpose ? v->n - 1 - i : i;
        s->map[d] = factor;
        factor *= (ptrdiff_t)(s->count[d] > 0 ? s->count[d] : 1);
    }
}

/* Syncs the file, which must be done between puts of different ranks that overlap. */
static void sync_all(int id) {
    CHECK(nc_sync(id));
    for (int i = 0; i < vars; i++) variables[i].waits = 0;
}

static void put(int id, int number, int step) {
    struct variable* v = &variables[number];
    const int together = v->collective || ranks == 1;
    const size_t limit = together || !is_netcdf4() ? max_records : (size_t)records;
    struct section all, mine;
    if (!together && v->waits) sync_all(id);
    v->waits = 1;
    choose_section(v, limit, &all);
    for (int d = 0; d < v->n && whole_record >= 0; d++) {
        all.start[d] = d == 0 ? (size_t)whole_record : 0;
        all.count[d] = d == 0 ? 1 : v->length[d];
        all.stride[d] = 1;
    }
    const int way = (int)next_number(3) * (whole_record < 0);
    const int form = (int)next_number(3), transpose = (int)next_number(2);
    const nc_type type =
        v->type == NC_CHAR ? NC_CHAR : (nc_type[]){NC_BYTE,   NC_SHORT, NC_INT, NC_FLOAT,
                                                   NC_DOUBLE, NC_UBYTE, v->type}[next_number(7)];
    const int wrong = next_number(12) == 0 && v->n > 0 ? (int)next_number((unsigned)ranks) : -1;
    int plain = 1;
    for (int d = 0; d < v->n; d++) plain = plain && all.stride[d] == 1;
    for (int who = 0; who < ranks; who++) {
        mine = all;
        part(v, way, who, &mine);
        dense_map(v, &mine, form == 2 && transpose);
        const size_t n = volume(v, &mine);
        struct filling f = {v, type, NULL, step};
        int skips = who == wrong;
        if (!skips) {
            for_elements(v, &mine, &f, fill_model);
            if (v->record && n > 0) {
                const int end =
                    (int)(mine.start[0] + (mine.count[0] - 1) * (size_t)mine.stride[0] + 1);
                if (end > records) records = end;
            }
        }
        if (who != rank) continue;
        if (n == 0 && !together && step % 2 == 0) continue;
        void* data = malloc((n + 1) * size_of(type));
        f.data = data;
        for_elements(v, &mine, &f, fill_memory);
        if (skips) {
            mine.start[v->n - 1] = 1000;
            mine.count[v->n - 1] = 1;
            if (v->n == 1 && v->record) mine.stride[0] = 0;
        }
        int code = 0;
        if (form == 0 && plain && !(skips && v->n == 1 && v->record))
            code =
                BY_TYPE(nc_put_vara, type, id COMMA number COMMA mine.start COMMA mine.count COMMA);
        else if (form == 2)
            code = BY_TYPE(nc_put_varm, type,
                           id COMMA number COMMA mine.start COMMA mine.count COMMA
                               mine.stride COMMA mine.map COMMA);
        else
            code =
                BY_TYPE(nc_put_vars, type,
                        id COMMA number COMMA mine.start COMMA mine.count COMMA mine.stride COMMA);
        if (skips)
            expect(code, v->n == 1 && v->record ? NC_ESTRIDE : NC_EINVALCOORDS, __LINE__);
        else
            check(code, "put", __LINE__);
        memset(data, 0x55, n * size_of(type));
        free(data);
    }
}

static void get(int id, int number, int step) {
    struct variable* v = &variables[number];
    if (!v->collective && ranks > 1) return;
    struct section s;
    choose_section(v, (size_t)records, &s);
    for (int who = 0; who < rank; who++) next_number(2);
    part(v, (int)next_number(3), rank, &s);
    for (int who = rank; who < ranks; who++) next_number(2);
    dense_map(v, &s, 0);
    const nc_type type = v->type == NC_CHAR ? NC_CHAR : NC_DOUBLE;
    void* data = malloc((volume(v, &s) + 1) * size_of(type));
    CHECK(BY_TYPE(nc_get_vars, type,
                  id COMMA number COMMA s.start COMMA s.count COMMA s.stride COMMA));
    struct filling f = {v, type, data, step};
    for_elements(v, &s, &f, compare_memory);
    free(data);
}

static void choose_access(int id) {
    const int access = (int)next_number(2);
    for (int i = 0; i < vars; i++) {
        if (i > 0 && is_netcdf4())
            variables[i].collective = (int)next_number(2);
        else
            variables[i].collective = access;
        if (variables[i].filtered || regular) variables[i].collective = 1;
        CHECK(nc_var_par_access(id, i, variables[i].collective ? NC_COLLECTIVE : NC_INDEPENDENT));
    }
}

static void define_all(int id) {
    for (int d = 0; d < 4; d++) {
        char name[8];
        if (d == 0 && !unlimited) continue;
        snprintf(name, sizeof name, "d%d", d);
        CHECK(nc_def_dim(id, name, d == 0 ? NC_UNLIMITED : dimension_length[d], &dimension_id[d]));
    }
    attributes(id, NC_GLOBAL, 5);
}

static void compare_file(const char* path) {
    int id = 0, n = 0;
    CHECK(nc_open(path, NC_NOWRITE, &id));
    CHECK(nc_inq_nvars(id, &n));
    if (n != vars) fail("number of variables", __LINE__);
    if (unlimited) {
        size_t length = 0;
        CHECK(nc_inq_dimlen(id, dimension_id[0], &length));
        if ((int)length != records) {
            fprintf(stderr, "%zu records instead of %d: ", length, records);
            fail("records", __LINE__);
        }
    }
    for (int i = 0; i < vars; i++) {
        struct variable* v = &variables[i];
        struct section s;
        for (int d = 0; d < v->n; d++) {
            s.start[d] = 0;
            s.count[d] = d == 0 && v->record ? (size_t)records : v->length[d];
            s.stride[d] = 1;
        }
        dense_map(v, &s, 0);
        const nc_type type = v->type == NC_CHAR ? NC_CHAR : NC_DOUBLE;
        void* data = malloc((volume(v, &s) + 1) * size_of(type));
        CHECK(BY_TYPE(nc_get_vara, type, id COMMA i COMMA s.start COMMA s.count COMMA));
        struct filling f = {v, type, data, 999};
        for_elements(v, &s, &f, compare_memory);
        free(data);
        int got[3];
        CHECK(nc_get_att_int(id, i, "numbers", got));
        char text[16];
        CHECK(nc_get_att_text(id, i, "text", text));
        if (got[0] != 1) fail("attribute", __LINE__);
    }
    CHECK(nc_close(id));
}

static void run(unsigned seed) {
    static const int modes[] = {0, NC_64BIT_OFFSET, NC_64BIT_DATA, NC_NETCDF4,
                                NC_NETCDF4 | NC_CLASSIC_MODEL};
    char path[64];
    int id = 0;
    seed_now = seed;
    state = seed * 2654435761ULL + 12345;
    for (int i = 0; i < 5; i++) next_number(2);
    mode = modes[next_number(5)];
    unlimited = next_number(4) > 0 || regular;
    records = 0;
    vars = 1 + (int)next_number(6);
    for (int d = 1; d < 4; d++) dimension_length[d] = 1 + next_number(d == 3 ? 13 : 5);
    snprintf(path, sizeof path, "property_%d.nc", ranks);
    CHECK(nc_create_par(path, NC_CLOBBER | mode, MPI_COMM_WORLD, MPI_INFO_NULL, &id));
    define_all(id);
    for (int i = 0; i < vars; i++) {
        choose_variable(&variables[i]);
        define_variable(id, &variables[i], i);
        attributes(id, i, i);
        variables[i].filtered = is_netcdf4() && variables[i].n > 0 && next_number(3) == 0;
        if (variables[i].filtered) CHECK(nc_def_var_deflate(id, i, (int)next_number(2), 1, 1));
    }
    if (mode != NC_NETCDF4 || next_number(2) == 0) CHECK(nc_enddef(id));
    choose_access(id);
    const int steps = (int)next_number(40);
    int next = 0;
    for (int step = 0; step < steps; step++) {
        for (int i = 0; regular && next < max_records * vars && i < 40; i++) {
            if (next_number(20) == 0) break;
            whole_record = next / vars;
            put(id, next++ % vars, step);
            whole_record = -1;
        }
        const unsigned what = next_number(20);
        const int number = (int)next_number((unsigned)vars);
        if (what < 13)
            put(id, number, step);
        else if (what < 16)
            get(id, number, step);
        else if (what == 16)
            sync_all(id);
        else if (what == 17) {
            choose_access(id);
        } else if (what == 18) {
            CHECK(nc_redef(id));
            attributes(id, NC_GLOBAL, (int)next_number(9));
            if (next_number(2) == 0 && vars < max_vars) {
                choose_variable(&variables[vars]);
                define_variable(id, &variables[vars], vars);
                attributes(id, vars, vars);
                if (!is_netcdf4()) variables[vars].collective = variables[0].collective;
                vars++;
            }
            CHECK(nc_enddef(id));
            if (regular) choose_access(id);
        } else if (unlimited) {
            size_t length = 0;
            CHECK(nc_inq_dimlen(id, dimension_id[0], &length));
            /* A rank need not know yet what others have put independently. */
            if ((int)length > records) fail("more records than were put", __LINE__);
        }
        if (!is_netcdf4()) continue;
        /* Before a rank puts data independently into records that others have added, it must know
         * of them. */
        size_t length = 0;
        int known = records;
        if (unlimited) {
            CHECK(nc_inq_dimlen(id, dimension_id[0], &length));
            known = (int)length;
        }
        MPI_Allreduce(MPI_IN_PLACE, &known, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        if (known != records) fail("records of a collective put", __LINE__);
    }
    CHECK(nc_close(id));
    if (rank == 0) compare_file(path);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const unsigned first = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
    const unsigned last = argc > 2 ? (unsigned)atoi(argv[2]) : first;
    regular = argc > 3;
    for (unsigned seed = first; seed <= last; seed++) run(seed);
    if (rank == 0) printf("seeds %u to %u: ok\n", first, last);
    MPI_Finalize();
    return 0;
}
