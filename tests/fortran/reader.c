/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions for the Fortran tests that Fortran lacks. They return the codes and types of thalweg.h,
 * the address of an array that was passed to C, and single values of a file. The values are read
 * with netCDF-C, which shares no code with the library's own reader.
 */
#include <ISO_Fortran_binding.h>
#include <netcdf.h>
#include <stdio.h>
#include <string.h>
#include <thalweg/thalweg.h>

struct constant {
    const char* name;
    int value;
};

#define CONSTANT(name, value, text) {#name, value},
static const struct constant codes[] = {TW_STATUS_TABLE(CONSTANT)};
static const struct constant types[] = {
    {"TW_BYTE", TW_BYTE},   {"TW_CHAR", TW_CHAR},     {"TW_SHORT", TW_SHORT},
    {"TW_INT", TW_INT},     {"TW_FLOAT", TW_FLOAT},   {"TW_DOUBLE", TW_DOUBLE},
    {"TW_UBYTE", TW_UBYTE}, {"TW_USHORT", TW_USHORT}, {"TW_UINT", TW_UINT},
    {"TW_INT64", TW_INT64}, {"TW_UINT64", TW_UINT64},
};

static int find(const struct constant* table, size_t n, const char* name, int* value) {
    for (size_t i = 0; i < n; ++i) {
        if (strcmp(table[i].name, name) == 0) {
            *value = table[i].value;
            return 1;
        }
    }
    return 0;
}

int code_count(void) { return (int)(sizeof codes / sizeof codes[0]); }
int type_count(void) { return (int)(sizeof types / sizeof types[0]); }

int model_role(void) { return TW_MODEL; }
int server_role(void) { return TW_SERVER; }

/* Returns 1 and the value of a constant of this name, or 0 if there is none. */
int find_code(const char* name, int* value) {
    return find(codes, sizeof codes / sizeof codes[0], name, value);
}
int find_type(const char* name, int* value) {
    return find(types, sizeof types / sizeof types[0], name, value);
}

/* Returns the address of an array's first element. If the compiler passes a temporary copy, it is
 * in the copy.
 */
void* address_of(const CFI_cdesc_t* array) { return array->base_addr; }

int reader_open(const char* path) {
    int id = -1;
    if (nc_open(path, NC_NOWRITE, &id) != NC_NOERR) {
        return -1;
    }
    return id;
}

void reader_close(int id) { nc_close(id); }

/* Returns the element at a position, which is counted from 1 with the fastest dimension first; 1e30
 * if there is none.
 */
double reader_value(int id, const char* name, int rank, const int* position) {
    size_t start[8] = {0};
    size_t count[8];
    int variable = -1;
    int dims = -1;
    double value = 1e30;
    if (nc_inq_varid(id, name, &variable) != NC_NOERR ||
        nc_inq_varndims(id, variable, &dims) != NC_NOERR || dims != rank) {
        return value;
    }
    for (int d = 0; d < rank; ++d) {
        start[rank - 1 - d] = (size_t)(position[d] - 1);
        count[d] = 1;
    }
    if (nc_get_vara_double(id, variable, start, count, &value) != NC_NOERR) {
        return 1e30;
    }
    return value;
}

/* Returns a row of a text variable with one or two dimensions. Rows are counted from 1. The result
 * is the length of the text, or -1. */
int reader_text(int id, const char* name, int row, int size, char* text) {
    int variable = -1;
    int dims = -1;
    int ids[8];
    size_t start[2] = {(size_t)(row - 1), 0};
    size_t count[2] = {1, 0};
    size_t length = 0;
    if (nc_inq_varid(id, name, &variable) != NC_NOERR ||
        nc_inq_varndims(id, variable, &dims) != NC_NOERR || dims < 1 || dims > 2 ||
        nc_inq_vardimid(id, variable, ids) != NC_NOERR ||
        nc_inq_dimlen(id, ids[dims - 1], &length) != NC_NOERR || length > (size_t)size) {
        return -1;
    }
    count[1] = length;
    const int skip = 2 - dims;
    if (nc_get_vara_text(id, variable, start + skip, count + skip, text) != NC_NOERR) {
        return -1;
    }
    return (int)length;
}

/* Returns an attribute's type (netCDF's number) and length; 0 if it does not exist. `var` is "" for
 * an attribute of the file. */
int reader_attribute(int id, const char* var, const char* name, int* length, double* values,
                     int size) {
    int variable = NC_GLOBAL;
    nc_type type = 0;
    size_t n = 0;
    if (*var != '\0' && nc_inq_varid(id, var, &variable) != NC_NOERR) {
        return 0;
    }
    if (nc_inq_att(id, variable, name, &type, &n) != NC_NOERR) {
        return 0;
    }
    *length = (int)n;
    if (type != NC_CHAR && n <= (size_t)size &&
        nc_get_att_double(id, variable, name, values) != NC_NOERR) {
        return 0;
    }
    return type;
}
