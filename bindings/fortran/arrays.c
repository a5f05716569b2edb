/* Arrays of any type, rank and strides: tw_put and tw_get with their variants.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fortran.h"

void thalweg_f_put(const struct fortran_file* file, const CFI_cdesc_t* name,
                   const CFI_cdesc_t* array, int* ierr);
void thalweg_f_put_deferred(const struct fortran_file* file, const CFI_cdesc_t* name,
                            const CFI_cdesc_t* array, int* ierr);
void thalweg_f_put_record(const struct fortran_file* file, const CFI_cdesc_t* name,
                          const CFI_cdesc_t* array,
                          const struct fortran_decomposition* decomposition, const int* record,
                          int* ierr);
void thalweg_f_put_record_deferred(const struct fortran_file* file, const CFI_cdesc_t* name,
                                   const CFI_cdesc_t* array,
                                   const struct fortran_decomposition* decomposition,
                                   const int* record, int* ierr);
void thalweg_f_get(const struct fortran_file* file, const CFI_cdesc_t* name,
                   const CFI_cdesc_t* array, const struct fortran_decomposition* decomposition,
                   const int* record, int* ierr);
void thalweg_f_get_deferred(const struct fortran_file* file, const CFI_cdesc_t* name,
                            const CFI_cdesc_t* array,
                            const struct fortran_decomposition* decomposition, const int* record,
                            int* ierr);

typedef int (*put_strided)(tw_file file, const char* var, tw_type type, const void* data, int rank,
                           const int64_t* extent, const int64_t* byte_stride);
typedef int (*record_put_strided)(tw_file file, const char* var, tw_decomposition decomposition,
                                  int64_t record, tw_type type, const void* data, int rank,
                                  const int64_t* extent, const int64_t* byte_stride);
typedef int (*get_strided)(tw_file file, const char* var, tw_decomposition decomposition,
                           int64_t record, tw_type type, void* data, int rank,
                           const int64_t* extent, const int64_t* byte_stride);

static const char no_decomposition[] = "the decomposition was never created, or was freed";

static int put(put_strided act, const struct fortran_file* file, const CFI_cdesc_t* name,
               const CFI_cdesc_t* array) {
    const struct name var = thalweg_f_name(name);
    const struct view view = thalweg_f_view(array);
    return act(file->handle, var.text, (tw_type)view.type, view.data, view.rank, view.extent,
               view.stride);
}

void thalweg_f_put(const struct fortran_file* file, const CFI_cdesc_t* name,
                   const CFI_cdesc_t* array, int* ierr) {
    thalweg_f_check(put(tw_put_strided, file, name, array), file->session, "tw_put", ierr);
}

void thalweg_f_put_deferred(const struct fortran_file* file, const CFI_cdesc_t* name,
                            const CFI_cdesc_t* array, int* ierr) {
    thalweg_f_check(put(tw_put_deferred_strided, file, name, array), file->session,
                    "tw_put_deferred", ierr);
}

static void put_record(record_put_strided act, const char* procedure,
                       const struct fortran_file* file, const CFI_cdesc_t* name,
                       const CFI_cdesc_t* array, const struct fortran_decomposition* decomposition,
                       const int* record, int* ierr) {
    const struct name var = thalweg_f_name(name);
    const struct view view = thalweg_f_view(array);
    if (thalweg_f_is_empty(decomposition)) {
        thalweg_f_check(TW_EHANDLE, NULL, no_decomposition, ierr);
        return;
    }
    thalweg_f_check(act(file->handle, var.text,
                        decomposition == NULL ? NULL : decomposition->handle, (int64_t)*record - 1,
                        (tw_type)view.type, view.data, view.rank, view.extent, view.stride),
                    file->session, procedure, ierr);
}

void thalweg_f_put_record(const struct fortran_file* file, const CFI_cdesc_t* name,
                          const CFI_cdesc_t* array,
                          const struct fortran_decomposition* decomposition, const int* record,
                          int* ierr) {
    put_record(tw_put_record_strided, "tw_put_record", file, name, array, decomposition, record,
               ierr);
}

void thalweg_f_put_record_deferred(const struct fortran_file* file, const CFI_cdesc_t* name,
                                   const CFI_cdesc_t* array,
                                   const struct fortran_decomposition* decomposition,
                                   const int* record, int* ierr) {
    put_record(tw_put_record_deferred_strided, "tw_put_record_deferred", file, name, array,
               decomposition, record, ierr);
}

/* Where the call is collective, a rank without the decomposition takes part with an invalid
 * array. */
static void get(get_strided act, const char* procedure, const struct fortran_file* file,
                const CFI_cdesc_t* name, const CFI_cdesc_t* array,
                const struct fortran_decomposition* decomposition, const int* record, int* ierr) {
    const struct name var = thalweg_f_name(name);
    const struct view view = thalweg_f_view(array);
    const int empty = thalweg_f_is_empty(decomposition);
    const int status =
        act(file->handle, var.text, decomposition == NULL ? NULL : decomposition->handle,
            record == NULL ? 0 : (int64_t)*record - 1, (tw_type)view.type, view.data,
            empty ? -1 : view.rank, view.extent, view.stride);
    if (empty) {
        thalweg_f_check(TW_EHANDLE, NULL, no_decomposition, ierr);
    } else {
        thalweg_f_check(status, file->session, procedure, ierr);
    }
}

void thalweg_f_get(const struct fortran_file* file, const CFI_cdesc_t* name,
                   const CFI_cdesc_t* array, const struct fortran_decomposition* decomposition,
                   const int* record, int* ierr) {
    get(tw_get_strided, "tw_get", file, name, array, decomposition, record, ierr);
}

void thalweg_f_get_deferred(const struct fortran_file* file, const CFI_cdesc_t* name,
                            const CFI_cdesc_t* array,
                            const struct fortran_decomposition* decomposition, const int* record,
                            int* ierr) {
    get(tw_get_deferred_strided, "tw_get_deferred", file, name, array, decomposition, record, ierr);
}
