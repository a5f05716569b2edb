/* The C side of the Fortran module: converts Fortran's order of dimensions, indices from 1 and
 * texts to those of cfio.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "../fortran/fortran.h"
#include "cfio.h"

/* Lets the program refer to a variable by `number` as well as by its id. */
int thalweg_cfio_alias(int ncid, int number, int varid);

/* A path. It may be longer than a name. */
struct path {
    char text[4097];
};

enum { max_dims = 1024 }; /* netCDF's limit */

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

FROM_FORTRAN(int, thalweg_cfio_f_proc_type, const int* rank) {
    (void)rank;
    return cfio_proc_type();
}

FROM_FORTRAN(int, thalweg_cfio_f_create, const CFI_cdesc_t* path, int cmode, int* ncid) {
    struct path name;
    thalweg_f_copy(path, name.text, sizeof name.text);
    return cfio_create(name.text, cmode, ncid);
}

FROM_FORTRAN(int, thalweg_cfio_f_def_dim, int ncid, const CFI_cdesc_t* name, int len, int* id) {
    /* A negative length becomes larger than any valid one, so the library reports it. */
    return cfio_def_dim(ncid, thalweg_f_name(name).text, (size_t)len, id);
}

FROM_FORTRAN(int, thalweg_cfio_f_def_var, int ncid, const CFI_cdesc_t* name, int type, int ndims,
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
    const int code =
        cfio_def_var(ncid, thalweg_f_name(name).text, type, n, ids, &no_hint, &no_hint, &id);
    if (code != CFIO_ERROR_NONE || store(varid, id)) {
        return code;
    }
    return thalweg_cfio_alias(ncid, *varid, id);
}

FROM_FORTRAN(int, thalweg_cfio_f_def_var_hint, int ncid, const CFI_cdesc_t* name, int type,
             int ndims, const CFI_cdesc_t* dimids, const CFI_cdesc_t* start,
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

FROM_FORTRAN(int, thalweg_cfio_f_put_att, int ncid, int varid, const CFI_cdesc_t* name,
             const CFI_cdesc_t* values) {
    /* CFIO's types have the values of the library's; it has none for larger integers. For type 0,
     * cfio_put_att returns an error. */
    const int known = thalweg_f_type(values);
    const int type = known >= CFIO_BYTE && known <= CFIO_DOUBLE ? known : 0;
    const size_t length = type == CFIO_CHAR ? values->elem_len : 1;
    return cfio_put_att(ncid, attribute_owner(varid), thalweg_f_name(name).text, type,
                        count_of(values) * length, values->base_addr);
}

FROM_FORTRAN(int, thalweg_cfio_f_inq_varid, int ncid, const CFI_cdesc_t* name, int* varid) {
    return cfio_inq_varid(ncid, thalweg_f_name(name).text, varid);
}

FROM_FORTRAN(int, thalweg_cfio_f_put_vara, int ncid, int varid, int ndims, const int* start,
             const int* count, int type, const void* p) {
    size_t first[max_dims], length[max_dims];
    const int n = ndims <= max_dims ? ndims : -1;
    for (int d = 0; d < n; ++d) {
        /* A negative index becomes larger than any valid one, so the library reports it. */
        first[n - 1 - d] = (size_t)start[d] - 1;
        length[n - 1 - d] = (size_t)count[d];
    }
    switch (type) {
        case CFIO_FLOAT: return cfio_put_vara_float(ncid, varid, n, first, length, p);
        case CFIO_DOUBLE: return cfio_put_vara_double(ncid, varid, n, first, length, p);
        default: return thalweg_cfio_put_vara_int(ncid, varid, n, first, length, p);
    }
}
