/* Arrays of any type, rank and strides: tw_put and tw_get with their variants.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "fortran.h"

static void put(const char* procedure, const struct fortran_file* file, const CFI_cdesc_t* name,
                const CFI_cdesc_t* array, int flags, int* ierr) {
    const struct name var = thalweg_f_name(name);
    const struct view view = thalweg_f_view(array);
    thalweg_f_check(tw_put_array(file->handle, var.text, thalweg_f_array(&view), flags),
                    file->session, procedure, ierr);
}

FROM_FORTRAN(void, thalweg_f_put, const struct fortran_file* file, const CFI_cdesc_t* name,
             const CFI_cdesc_t* array, int* ierr) {
    put("tw_put", file, name, array, 0, ierr);
}

FROM_FORTRAN(void, thalweg_f_put_deferred, const struct fortran_file* file, const CFI_cdesc_t* name,
             const CFI_cdesc_t* array, int* ierr) {
    put("tw_put_deferred", file, name, array, TW_DEFERRED, ierr);
}

/* Returns the error of a decomposition that was never created, or was freed. */
static void no_decomposition(const char* procedure, const char* name, int* ierr) {
    char text[name_size + 100];
    snprintf(text, sizeof text, "%s: '%s': the decomposition was never created, or was freed",
             procedure, name);
    thalweg_f_check(TW_EHANDLE, NULL, text, ierr);
}

static void put_record(const char* procedure, const struct fortran_file* file,
                       const CFI_cdesc_t* name, const CFI_cdesc_t* array,
                       const struct fortran_decomposition* decomposition, const int* record,
                       int flags, int* ierr) {
    const struct name var = thalweg_f_name(name);
    const struct view view = thalweg_f_view(array);
    if (thalweg_f_is_empty(decomposition)) {
        no_decomposition(procedure, var.text, ierr);
        return;
    }
    thalweg_f_check(tw_put_record_array(file->handle, var.text,
                                        decomposition == NULL ? NULL : decomposition->handle,
                                        (int64_t)*record - 1, thalweg_f_array(&view), flags),
                    file->session, procedure, ierr);
}

FROM_FORTRAN(void, thalweg_f_put_record, const struct fortran_file* file, const CFI_cdesc_t* name,
             const CFI_cdesc_t* array, const struct fortran_decomposition* decomposition,
             const int* record, int* ierr) {
    put_record("tw_put_record", file, name, array, decomposition, record, 0, ierr);
}

FROM_FORTRAN(void, thalweg_f_put_record_deferred, const struct fortran_file* file,
             const CFI_cdesc_t* name, const CFI_cdesc_t* array,
             const struct fortran_decomposition* decomposition, const int* record, int* ierr) {
    put_record("tw_put_record_deferred", file, name, array, decomposition, record, TW_DEFERRED,
               ierr);
}

/* Reads an array. In a collective call, a rank without a decomposition takes part with an invalid
 * array. */
static void get(const char* procedure, const struct fortran_file* file, const CFI_cdesc_t* name,
                const CFI_cdesc_t* array, const struct fortran_decomposition* decomposition,
                const int* record, int flags, int* ierr) {
    const struct name var = thalweg_f_name(name);
    struct view view = thalweg_f_view(array);
    const int empty = thalweg_f_is_empty(decomposition);
    if (empty) {
        view.rank = -1;
    }
    const int status =
        tw_get_array(file->handle, var.text, decomposition == NULL ? NULL : decomposition->handle,
                     record == NULL ? 0 : (int64_t)*record - 1, thalweg_f_array(&view), flags);
    if (empty) {
        no_decomposition(procedure, var.text, ierr);
    } else {
        thalweg_f_check(status, file->session, procedure, ierr);
    }
}

FROM_FORTRAN(void, thalweg_f_get, const struct fortran_file* file, const CFI_cdesc_t* name,
             const CFI_cdesc_t* array, const struct fortran_decomposition* decomposition,
             const int* record, int* ierr) {
    get("tw_get", file, name, array, decomposition, record, 0, ierr);
}

FROM_FORTRAN(void, thalweg_f_get_deferred, const struct fortran_file* file, const CFI_cdesc_t* name,
             const CFI_cdesc_t* array, const struct fortran_decomposition* decomposition,
             const int* record, int* ierr) {
    get("tw_get_deferred", file, name, array, decomposition, record, TW_DEFERRED, ierr);
}
