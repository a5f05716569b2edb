/* The C side of the Fortran module: converts Fortran's order of dimensions, indices from 1 and
 * texts to those of cfio.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <ISO_Fortran_binding.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "cfio.h"
#include "fortran.h"

/* A name. netCDF limits names to 256 bytes. A longer name is cut to 257 bytes, so that the library
 * reports it as too long. */
struct name {
    char text[258];
};

/* A path. It may be longer than a name. */
struct path {
    char text[4097];
};

enum { max_dims = 1024 }; /* netCDF's limit */

struct box {
    size_t start[max_dims];
    size_t count[max_dims];
};

int thalweg_cfio_f_proc_type(const int* rank);
int thalweg_cfio_f_create(const CFI_cdesc_t* path, int cmode, int* ncid);
int thalweg_cfio_f_def_dim(int ncid, const CFI_cdesc_t* name, int len, int* id);
int thalweg_cfio_f_def_var(int ncid, const CFI_cdesc_t* name, int type, int ndims,
                           const CFI_cdesc_t* dimids, int* varid);
int thalweg_cfio_f_def_var_hint(int ncid, const CFI_cdesc_t* name, int type, int ndims,
                                const CFI_cdesc_t* dimids, const CFI_cdesc_t* start,
                                const CFI_cdesc_t* count, int* varid);
int thalweg_cfio_f_put_att(int ncid, int varid, const CFI_cdesc_t* name, const CFI_cdesc_t* values);
int thalweg_cfio_f_inq_varid(int ncid, const CFI_cdesc_t* name, int* varid);
int thalweg_cfio_f_put_vara_real(int ncid, int varid, int ndims, const int* start, const int* count,
                                 const float* p);
int thalweg_cfio_f_put_vara_double(int ncid, int varid, int ndims, const int* start,
                                   const int* count, const double* p);
int thalweg_cfio_f_put_vara_int(int ncid, int varid, int ndims, const int* start, const int* count,
                                const int* p);

/* Copies a text without trailing blanks; a text that does not fit is cut. */
static void copy_text(const CFI_cdesc_t* from, char* to, size_t size) {
    const char* text = from->base_addr;
    size_t length = from->elem_len;
    while (length > 0 && text[length - 1] == ' ') {
        --length;
    }
    if (length > size - 1) {
        length = size - 1;
    }
    memcpy(to, text, length);
    to[length] = '\0';
}

static struct name name_of(const CFI_cdesc_t* text) {
    struct name name;
    copy_text(text, name.text, sizeof name.text);
    return name;
}

/* Converts the variable's id: 0 means the file in netCDF's Fortran interface. */
static int attribute_owner(int varid) {
    if (varid == 0) {
        return NC_GLOBAL;
    }
    return varid == NC_GLOBAL ? 0 : varid;
}

/* Stores an id if its address is writable. A program may pass a constant, as the example in CFIO's
 * paper does, which compilers put in read-only memory. There a plain store would end the program;
 * read() only fails. */
static int store(int* place, int id) {
    int ends[2];
    if (pipe(ends) != 0) { /* if too many files are open for this test, assume that the address
                            * is writable */
        *place = id;
        return 1;
    }
    const int stored = write(ends[1], &id, sizeof id) == (ssize_t)sizeof id &&
                       read(ends[0], place, sizeof id) == (ssize_t)sizeof id;
    close(ends[0]);
    close(ends[1]);
    return stored;
}

int thalweg_cfio_f_proc_type(const int* rank) {
    (void)rank;
    return cfio_proc_type();
}

int thalweg_cfio_f_create(const CFI_cdesc_t* path, int cmode, int* ncid) {
    struct path name;
    copy_text(path, name.text, sizeof name.text);
    return cfio_create(name.text, cmode, ncid);
}

int thalweg_cfio_f_def_dim(int ncid, const CFI_cdesc_t* name, int len, int* id) {
    /* A negative length becomes larger than any valid one, so the library reports it. */
    return cfio_def_dim(ncid, name_of(name).text, (size_t)len, id);
}

int thalweg_cfio_f_def_var(int ncid, const CFI_cdesc_t* name, int type, int ndims,
                           const CFI_cdesc_t* dimids, int* varid) {
    static const size_t no_hint = 0; /* cfio_def_var ignores the hints */
    int ids[max_dims];
    const char* first = dimids->base_addr;
    /* Fortran may pass a whole array by its first element, as a descriptor of rank 0. */
    const ptrdiff_t stride = dimids->rank > 0 ? dimids->dim[0].sm : (ptrdiff_t)sizeof(int);
    const int n = ndims <= max_dims ? ndims : -1;
    for (int d = 0; d < n; ++d) {
        memcpy(&ids[n - 1 - d], first + d * stride, sizeof(int));
    }
    int id = 0;
    const int code = cfio_def_var(ncid, name_of(name).text, type, n, ids, &no_hint, &no_hint, &id);
    if (code != CFIO_ERROR_NONE || store(varid, id)) {
        return code;
    }
    return thalweg_cfio_alias(ncid, *varid, id);
}

int thalweg_cfio_f_def_var_hint(int ncid, const CFI_cdesc_t* name, int type, int ndims,
                                const CFI_cdesc_t* dimids, const CFI_cdesc_t* start,
                                const CFI_cdesc_t* count, int* varid) {
    (void)start;
    (void)count;
    return thalweg_cfio_f_def_var(ncid, name, type, ndims, dimids, varid);
}

/* Returns the number of values. */
static size_t count_of(const CFI_cdesc_t* values) {
    size_t n = 1;
    for (int d = 0; d < values->rank; ++d) {
        n *= (size_t)values->dim[d].extent;
    }
    return n;
}

static int type_of(const CFI_cdesc_t* values) {
    /* A list of pairs instead of a switch, because CFI type names of the same size can have the
     * same value.
     */
    static const struct {
        CFI_type_t fortran;
        size_t size;
        int type;
    } table[] = {
        {CFI_type_int8_t, 1, CFIO_BYTE},   {CFI_type_signed_char, 1, CFIO_BYTE},
        {CFI_type_int16_t, 2, CFIO_SHORT}, {CFI_type_short, 2, CFIO_SHORT},
        {CFI_type_int32_t, 4, CFIO_INT},   {CFI_type_int, 4, CFIO_INT},
        {CFI_type_float, 4, CFIO_FLOAT},   {CFI_type_double, 8, CFIO_DOUBLE},
    };
    if (values->type == CFI_type_char) {
        return CFIO_CHAR;
    }
    for (size_t i = 0; i < sizeof table / sizeof table[0]; ++i) {
        if (values->type == table[i].fortran && values->elem_len == table[i].size) {
            return table[i].type;
        }
    }
    return 0; /* for size 0, cfio_put_att returns an error */
}

int thalweg_cfio_f_put_att(int ncid, int varid, const CFI_cdesc_t* name,
                           const CFI_cdesc_t* values) {
    const int type = type_of(values);
    const size_t length = type == CFIO_CHAR ? values->elem_len : 1;
    return cfio_put_att(ncid, attribute_owner(varid), name_of(name).text, type,
                        count_of(values) * length, values->base_addr);
}

int thalweg_cfio_f_inq_varid(int ncid, const CFI_cdesc_t* name, int* varid) {
    return cfio_inq_varid(ncid, name_of(name).text, varid);
}

/* Makes a box with C's order of dimensions. Returns the number of dimensions, or -1 if the box is
 * invalid. */
static int box_of(int ndims, const int* start, const int* count, struct box* box) {
    const int n = ndims <= max_dims ? ndims : -1;
    for (int d = 0; d < n; ++d) {
        /* A negative index becomes larger than any valid one, so the library reports it. */
        box->start[n - 1 - d] = (size_t)start[d] - 1;
        box->count[n - 1 - d] = (size_t)count[d];
    }
    return n;
}

int thalweg_cfio_f_put_vara_real(int ncid, int varid, int ndims, const int* start, const int* count,
                                 const float* p) {
    struct box box;
    const int n = box_of(ndims, start, count, &box);
    return cfio_put_vara_float(ncid, varid, n, box.start, box.count, p);
}

int thalweg_cfio_f_put_vara_double(int ncid, int varid, int ndims, const int* start,
                                   const int* count, const double* p) {
    struct box box;
    const int n = box_of(ndims, start, count, &box);
    return cfio_put_vara_double(ncid, varid, n, box.start, box.count, p);
}

int thalweg_cfio_f_put_vara_int(int ncid, int varid, int ndims, const int* start, const int* count,
                                const int* p) {
    struct box box;
    const int n = box_of(ndims, start, count, &box);
    return thalweg_cfio_put_vara_int(ncid, varid, n, box.start, box.count, p);
}
