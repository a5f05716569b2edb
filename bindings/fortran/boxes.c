/* tw_put_box and tw_get_box.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fortran.h"

/* Largest number of dimensions of a variable. */
enum { max_dims = 16 };

/* A box of a variable in C's order, and the array with its values. */
struct box {
    struct name variable;
    struct view view;
    size_t size; /* size of an element in bytes */
    int64_t n;   /* number of elements */
    int ndims;   /* number of dimensions of start, count and stride */
    int64_t start[max_dims], count[max_dims], stride[max_dims];
    char* packed; /* memory for the elements one after another; NULL if the array has them so */
    char why[name_size + 400]; /* text of an error that the library cannot find; otherwise empty */
};

/* Reverses the integers of a vector. If it is shorter than expected, the rest gets values that are
 * not valid as indices or counts.
 */
static void backwards(const CFI_cdesc_t* vector, int64_t less, int64_t* to) {
    const CFI_index_t n = vector->dim[0].extent;
    for (int i = 0; i < max_dims; ++i) {
        to[i] = -1;
    }
    for (CFI_index_t i = 0; i < n; ++i) {
        const char* at = (const char*)vector->base_addr + (n - 1 - i) * vector->dim[0].sm;
        to[i] = (vector->elem_len == 4 ? *(const int32_t*)at : *(const int64_t*)at) - less;
    }
}

/* Copies the elements of the array, beginning with dimension d, to `packed`, or from there if
 * `back` is not 0. Returns the end of what was copied. */
static char* copy(const struct box* box, int d, char* element, char* packed, int back) {
    if (d == box->view.rank) {
        memcpy(back ? element : packed, back ? packed : element, box->size);
        return packed + box->size;
    }
    for (int64_t i = 0; i < box->view.extent[d]; ++i) {
        packed = copy(box, d + 1, element + i * box->view.stride[d], packed, back);
    }
    return packed;
}

/* Appends to the text of an error. */
__attribute__((format(printf, 2, 3))) static void say(struct box* box, const char* format, ...) {
    const size_t used = strlen(box->why);
    va_list values;
    va_start(values, format);
    vsnprintf(box->why + used, sizeof box->why - used, format, values);
    va_end(values);
}

/* Appends a list of lengths, in the reverse of the given order. */
static void say_shape(struct box* box, int rank, const int64_t* extent) {
    for (int d = rank - 1; d >= 0; --d) {
        say(box, "%s%lld%s", d == rank - 1 ? "(" : "", (long long)extent[d], d == 0 ? ")" : ", ");
    }
    if (rank == 0) {
        say(box, "(a scalar)");
    }
}

/* Sets n, and returns nonzero if the elements of the array follow one another. */
static int is_dense(struct box* box) {
    int dense = 1;
    box->n = 1;
    for (int d = box->view.rank - 1; d >= 0; --d) {
        dense = dense &&
                (box->view.extent[d] == 1 || box->view.stride[d] == box->n * (int64_t)box->size);
        box->n *= box->view.extent[d];
    }
    return dense;
}

/* Fills in a box from a program's arguments. Returns a status code.
 * @param stride  NULL: 1 along all dimensions */
static int make_box(const char* procedure, const CFI_cdesc_t* name, const CFI_cdesc_t* array,
                    const CFI_cdesc_t* start, const CFI_cdesc_t* count, const CFI_cdesc_t* stride,
                    struct box* box) {
    const long long nd = start->dim[0].extent, nc = count->dim[0].extent;
    box->variable = thalweg_f_name(name);
    box->view = thalweg_f_view(array);
    box->ndims = (int)nd;
    box->size = box->view.type == TW_CHAR ? 1 : array->elem_len;
    box->packed = NULL;
    box->why[0] = '\0';
    say(box, "%s: '%s': ", procedure, box->variable.text);
    if (nd != nc || nd > max_dims) {
        say(box,
            "start has %lld elements and count has %lld; they must have the same number, at "
            "most %d",
            nd, nc, max_dims);
        return TW_ESHAPE;
    }
    if (stride != NULL && stride->dim[0].extent != nd) {
        say(box, "start has %lld elements, but stride has %lld", nd,
            (long long)stride->dim[0].extent);
        return TW_ESHAPE;
    }
    backwards(start, 1, box->start);
    backwards(count, 0, box->count);
    if (stride != NULL) {
        backwards(stride, 0, box->stride);
    }
    int64_t volume = 1;
    for (int d = 0; d < nd; ++d) {
        if (__builtin_mul_overflow(volume, box->count[d], &volume)) {
            volume = -1;
            break;
        }
    }
    const int dense = is_dense(box);
    if (box->n != volume && (box->view.data != NULL || volume != 0)) {
        say(box, "count is ");
        say_shape(box, (int)nd, box->count);
        say(box, ", the array has the shape ");
        say_shape(box, box->view.rank, box->view.extent);
        return TW_ESHAPE;
    }
    if (!dense && box->n > 0) {
        box->packed = malloc((size_t)box->n * box->size);
        if (box->packed == NULL) {
            say(box, "out of memory");
            return TW_ENOMEM;
        }
    }
    box->why[0] = '\0';
    return TW_OK;
}

/* Tests if the variable has as many dimensions as the box. */
static int has_dims(const struct fortran_file* file, const struct box* box) {
    int rank = -1;
    (void)tw_inq_var(file->handle, box->variable.text, NULL, &rank, NULL);
    return box->ndims == rank;
}

/* Frees the box's memory, and reports the status of the call. */
static void finish(int status, const struct fortran_file* file, const char* procedure,
                   struct box* box, int* ierr) {
    free(box->packed);
    const int own = box->why[0] != '\0';
    thalweg_f_check(status, own ? NULL : file->session, own ? box->why : procedure, ierr);
}

static void put_box(const struct fortran_file* file, const CFI_cdesc_t* name,
                    const CFI_cdesc_t* array, const CFI_cdesc_t* start, const CFI_cdesc_t* count,
                    const CFI_cdesc_t* stride, int* ierr) {
    struct box box;
    int status = make_box("tw_put_box", name, array, start, count, stride, &box);
    if (status == TW_OK) {
        if (box.packed != NULL) {
            copy(&box, 0, box.view.data, box.packed, 0);
        }
        const int fits = has_dims(file, &box);
        const void* from = box.packed != NULL ? box.packed : box.view.data;
        status = tw_put_box(file->handle, box.variable.text, (tw_type)box.view.type,
                            fits ? box.start : NULL, box.count, stride == NULL ? NULL : box.stride,
                            fits ? from : NULL);
    }
    finish(status, file, "tw_put_box", &box, ierr);
}

/* Reads a box. Collective: a rank whose arguments do not match takes part without a start. */
static void get_box(const struct fortran_file* file, const CFI_cdesc_t* name,
                    const CFI_cdesc_t* array, const CFI_cdesc_t* start, const CFI_cdesc_t* count,
                    const CFI_cdesc_t* stride, int* ierr) {
    struct box box;
    const int own = make_box("tw_get_box", name, array, start, count, stride, &box);
    const int fits = own == TW_OK && has_dims(file, &box);
    void* to = box.packed != NULL ? box.packed : box.view.data;
    const int status =
        tw_get_box(file->handle, box.variable.text, (tw_type)box.view.type, fits ? box.start : NULL,
                   box.count, stride == NULL ? NULL : box.stride, fits ? to : NULL);
    if (box.packed != NULL && (status == TW_OK || status == TW_ERANGE)) {
        copy(&box, 0, box.view.data, box.packed, 1);
    }
    finish(own != TW_OK ? own : status, file, "tw_get_box", &box, ierr);
}

FROM_FORTRAN(void, thalweg_f_put_box, const struct fortran_file* file, const CFI_cdesc_t* name,
             const CFI_cdesc_t* array, const CFI_cdesc_t* start, const CFI_cdesc_t* count,
             int* ierr) {
    put_box(file, name, array, start, count, NULL, ierr);
}

FROM_FORTRAN(void, thalweg_f_put_section, const struct fortran_file* file, const CFI_cdesc_t* name,
             const CFI_cdesc_t* array, const CFI_cdesc_t* start, const CFI_cdesc_t* count,
             const CFI_cdesc_t* stride, int* ierr) {
    put_box(file, name, array, start, count, stride, ierr);
}

FROM_FORTRAN(void, thalweg_f_get_box, const struct fortran_file* file, const CFI_cdesc_t* name,
             const CFI_cdesc_t* array, const CFI_cdesc_t* start, const CFI_cdesc_t* count,
             int* ierr) {
    get_box(file, name, array, start, count, NULL, ierr);
}

FROM_FORTRAN(void, thalweg_f_get_section, const struct fortran_file* file, const CFI_cdesc_t* name,
             const CFI_cdesc_t* array, const CFI_cdesc_t* start, const CFI_cdesc_t* count,
             const CFI_cdesc_t* stride, int* ierr) {
    get_box(file, name, array, start, count, stride, ierr);
}
