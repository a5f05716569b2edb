/* tw_put_box and tw_get_box.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fortran.h"

void thalweg_f_put_box_int32(const struct fortran_file* file, const CFI_cdesc_t* name,
                             const CFI_cdesc_t* array, const CFI_cdesc_t* start,
                             const CFI_cdesc_t* count, int* ierr);
void thalweg_f_put_box_int64(const struct fortran_file* file, const CFI_cdesc_t* name,
                             const CFI_cdesc_t* array, const CFI_cdesc_t* start,
                             const CFI_cdesc_t* count, int* ierr);
void thalweg_f_put_section_int32(const struct fortran_file* file, const CFI_cdesc_t* name,
                                 const CFI_cdesc_t* array, const CFI_cdesc_t* start,
                                 const CFI_cdesc_t* count, const CFI_cdesc_t* stride, int* ierr);
void thalweg_f_put_section_int64(const struct fortran_file* file, const CFI_cdesc_t* name,
                                 const CFI_cdesc_t* array, const CFI_cdesc_t* start,
                                 const CFI_cdesc_t* count, const CFI_cdesc_t* stride, int* ierr);
void thalweg_f_get_box_int32(const struct fortran_file* file, const CFI_cdesc_t* name,
                             const CFI_cdesc_t* array, const CFI_cdesc_t* start,
                             const CFI_cdesc_t* count, int* ierr);
void thalweg_f_get_box_int64(const struct fortran_file* file, const CFI_cdesc_t* name,
                             const CFI_cdesc_t* array, const CFI_cdesc_t* start,
                             const CFI_cdesc_t* count, int* ierr);
void thalweg_f_get_section_int32(const struct fortran_file* file, const CFI_cdesc_t* name,
                                 const CFI_cdesc_t* array, const CFI_cdesc_t* start,
                                 const CFI_cdesc_t* count, const CFI_cdesc_t* stride, int* ierr);
void thalweg_f_get_section_int64(const struct fortran_file* file, const CFI_cdesc_t* name,
                                 const CFI_cdesc_t* array, const CFI_cdesc_t* start,
                                 const CFI_cdesc_t* count, const CFI_cdesc_t* stride, int* ierr);

/* Largest number of dimensions of a variable. */
enum { max_dims = 16 };

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

/* Copies the elements of an array, beginning with dimension d, to dense memory. */
static char* pack(const struct view* view, int d, const char* from, size_t size, char* to) {
    if (d == view->rank) {
        memcpy(to, from, size);
        return to + size;
    }
    for (int64_t i = 0; i < view->extent[d]; ++i) {
        to = pack(view, d + 1, from + i * view->stride[d], size, to);
    }
    return to;
}

/* Copies elements in dense memory to the elements of an array, beginning with dimension d. */
static const char* unpack(const struct view* view, int d, const char* from, size_t size, char* to) {
    if (d == view->rank) {
        memcpy(to, from, size);
        return from + size;
    }
    for (int64_t i = 0; i < view->extent[d]; ++i) {
        from = unpack(view, d + 1, from, size, to + i * view->stride[d]);
    }
    return from;
}

/* Appends a list of lengths to a text, in the reverse of the given order. */
static void say_shape(char* text, size_t room, int rank, const int64_t* extent) {
    for (int d = rank - 1; d >= 0; --d) {
        const size_t used = strlen(text);
        snprintf(text + used, room - used, "%s%lld%s", d == rank - 1 ? "(" : "",
                 (long long)extent[d], d == 0 ? ")" : ", ");
    }
    if (rank == 0) {
        const size_t used = strlen(text);
        snprintf(text + used, room - used, "(a scalar)");
    }
}

/* A box of a variable in C's order, and the array with its values. */
struct box {
    struct view view;
    size_t size; /* size of an element in bytes */
    int64_t n;   /* number of elements */
    int dense;   /* nonzero if the elements follow one another */
    int ndims;   /* number of dimensions of start, count and stride */
    int64_t start[max_dims], count[max_dims], stride[max_dims];
};

/* Fills in a box from a program's arguments. Returns a status code.
 * @param stride  NULL: 1 along all dimensions
 * @param why     receives the text of an error that the library cannot find */
static int box_of(const char* procedure, const char* name, const CFI_cdesc_t* array,
                  const CFI_cdesc_t* start, const CFI_cdesc_t* count, const CFI_cdesc_t* stride,
                  struct box* box, char* why, size_t room) {
    const struct view view = thalweg_f_view(array);
    const CFI_index_t nd = start->dim[0].extent;
    box->view = view;
    box->ndims = (int)nd;
    box->size = view.type == TW_CHAR ? 1 : array->elem_len;
    if (nd != count->dim[0].extent || nd > max_dims) {
        snprintf(why, room,
                 "%s: '%s': start has %lld elements and count has %lld; they must have the same "
                 "number, at most %d",
                 procedure, name, (long long)nd, (long long)count->dim[0].extent, max_dims);
        return TW_ESHAPE;
    }
    if (stride != NULL && stride->dim[0].extent != nd) {
        snprintf(why, room, "%s: '%s': start has %lld elements, but stride has %lld", procedure,
                 name, (long long)nd, (long long)stride->dim[0].extent);
        return TW_ESHAPE;
    }
    backwards(start, 1, box->start);
    backwards(count, 0, box->count);
    if (stride != NULL) {
        backwards(stride, 0, box->stride);
    }
    int64_t volume = 1;
    for (CFI_index_t d = 0; d < nd; ++d) {
        if (__builtin_mul_overflow(volume, box->count[d], &volume)) {
            volume = -1;
            break;
        }
    }
    box->n = 1;
    box->dense = 1;
    for (int d = view.rank - 1; d >= 0; --d) {
        box->dense =
            box->dense && (view.extent[d] == 1 || view.stride[d] == box->n * (int64_t)box->size);
        box->n *= view.extent[d];
    }
    if (box->n != volume && (view.data != NULL || volume != 0)) {
        snprintf(why, room, "%s: '%s': count is ", procedure, name);
        say_shape(why, room, (int)nd, box->count);
        snprintf(why + strlen(why), room - strlen(why), ", the array has the shape ");
        say_shape(why, room, view.rank, view.extent);
        return TW_ESHAPE;
    }
    return TW_OK;
}

/* Tests if a variable has this number of dimensions. */
static int has_dims(const struct fortran_file* file, const struct name* var, int n) {
    int rank = -1;
    (void)tw_inq_var(file->handle, var->text, NULL, &rank, NULL);
    return n == rank;
}

/* Allocates dense memory for a box whose array is not dense; otherwise sets `memory` to NULL.
 * Returns a status code; `why` receives the text of an error. */
static int memory_of(const char* procedure, const char* name, const struct box* box, char** memory,
                     char* why, size_t room) {
    *memory = NULL;
    if (box->dense || box->n == 0) {
        return TW_OK;
    }
    *memory = malloc((size_t)box->n * box->size);
    if (*memory != NULL) {
        return TW_OK;
    }
    snprintf(why, room, "%s: '%s': out of memory", procedure, name);
    return TW_ENOMEM;
}

static int put_box(const struct fortran_file* file, const CFI_cdesc_t* name,
                   const CFI_cdesc_t* array, const CFI_cdesc_t* start, const CFI_cdesc_t* count,
                   const CFI_cdesc_t* stride, char* why, size_t room) {
    const struct name var = thalweg_f_name(name);
    struct box box;
    char* packed = NULL;
    int status = box_of("tw_put_box", var.text, array, start, count, stride, &box, why, room);
    if (status == TW_OK) {
        status = memory_of("tw_put_box", var.text, &box, &packed, why, room);
    }
    if (status != TW_OK) {
        return status;
    }
    if (packed != NULL) {
        pack(&box.view, 0, box.view.data, box.size, packed);
    }
    const int fits = has_dims(file, &var, box.ndims);
    status = tw_put_box(file->handle, var.text, (tw_type)box.view.type, fits ? box.start : NULL,
                        box.count, stride == NULL ? NULL : box.stride,
                        !fits            ? NULL
                        : packed == NULL ? box.view.data
                                         : packed);
    free(packed);
    return status;
}

static void check_box(const struct fortran_file* file, const CFI_cdesc_t* name,
                      const CFI_cdesc_t* array, const CFI_cdesc_t* start, const CFI_cdesc_t* count,
                      const CFI_cdesc_t* stride, int* ierr) {
    char why[name_size + 400] = "";
    const int status = put_box(file, name, array, start, count, stride, why, sizeof why);
    if (why[0] != '\0') {
        thalweg_f_check(status, NULL, why, ierr);
    } else {
        thalweg_f_check(status, file->session, "tw_put_box", ierr);
    }
}

void thalweg_f_put_box_int32(const struct fortran_file* file, const CFI_cdesc_t* name,
                             const CFI_cdesc_t* array, const CFI_cdesc_t* start,
                             const CFI_cdesc_t* count, int* ierr) {
    check_box(file, name, array, start, count, NULL, ierr);
}

void thalweg_f_put_box_int64(const struct fortran_file* file, const CFI_cdesc_t* name,
                             const CFI_cdesc_t* array, const CFI_cdesc_t* start,
                             const CFI_cdesc_t* count, int* ierr) {
    check_box(file, name, array, start, count, NULL, ierr);
}

void thalweg_f_put_section_int32(const struct fortran_file* file, const CFI_cdesc_t* name,
                                 const CFI_cdesc_t* array, const CFI_cdesc_t* start,
                                 const CFI_cdesc_t* count, const CFI_cdesc_t* stride, int* ierr) {
    check_box(file, name, array, start, count, stride, ierr);
}

void thalweg_f_put_section_int64(const struct fortran_file* file, const CFI_cdesc_t* name,
                                 const CFI_cdesc_t* array, const CFI_cdesc_t* start,
                                 const CFI_cdesc_t* count, const CFI_cdesc_t* stride, int* ierr) {
    check_box(file, name, array, start, count, stride, ierr);
}

/* Reads a box. Collective: a rank whose arguments do not match takes part without a start. */
static void get_box(const struct fortran_file* file, const CFI_cdesc_t* name,
                    const CFI_cdesc_t* array, const CFI_cdesc_t* start, const CFI_cdesc_t* count,
                    const CFI_cdesc_t* stride, int* ierr) {
    const struct name var = thalweg_f_name(name);
    struct box box;
    char* packed = NULL;
    char why[name_size + 400] = "";
    int own = box_of("tw_get_box", var.text, array, start, count, stride, &box, why, sizeof why);
    if (own == TW_OK) {
        own = memory_of("tw_get_box", var.text, &box, &packed, why, sizeof why);
    }
    const int fits = own == TW_OK && has_dims(file, &var, box.ndims);
    void* to = !fits ? NULL : packed == NULL ? box.view.data : packed;
    const int status =
        tw_get_box(file->handle, var.text, (tw_type)box.view.type, fits ? box.start : NULL,
                   box.count, stride == NULL ? NULL : box.stride, to);
    if (packed != NULL && (status == TW_OK || status == TW_ERANGE)) {
        unpack(&box.view, 0, packed, box.size, box.view.data);
    }
    free(packed);
    if (own != TW_OK) {
        thalweg_f_check(own, NULL, why, ierr);
    } else {
        thalweg_f_check(status, file->session, "tw_get_box", ierr);
    }
}

void thalweg_f_get_box_int32(const struct fortran_file* file, const CFI_cdesc_t* name,
                             const CFI_cdesc_t* array, const CFI_cdesc_t* start,
                             const CFI_cdesc_t* count, int* ierr) {
    get_box(file, name, array, start, count, NULL, ierr);
}

void thalweg_f_get_box_int64(const struct fortran_file* file, const CFI_cdesc_t* name,
                             const CFI_cdesc_t* array, const CFI_cdesc_t* start,
                             const CFI_cdesc_t* count, int* ierr) {
    get_box(file, name, array, start, count, NULL, ierr);
}

void thalweg_f_get_section_int32(const struct fortran_file* file, const CFI_cdesc_t* name,
                                 const CFI_cdesc_t* array, const CFI_cdesc_t* start,
                                 const CFI_cdesc_t* count, const CFI_cdesc_t* stride, int* ierr) {
    get_box(file, name, array, start, count, stride, ierr);
}

void thalweg_f_get_section_int64(const struct fortran_file* file, const CFI_cdesc_t* name,
                                 const CFI_cdesc_t* array, const CFI_cdesc_t* start,
                                 const CFI_cdesc_t* count, const CFI_cdesc_t* stride, int* ierr) {
    get_box(file, name, array, start, count, stride, ierr);
}
