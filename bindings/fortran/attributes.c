/* Attributes of files and of restarts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "fortran.h"

void thalweg_f_put_att(const struct fortran_file* file, const CFI_cdesc_t* var,
                       const CFI_cdesc_t* name, const CFI_cdesc_t* value, int* ierr);
void thalweg_f_get_att(const struct fortran_file* file, const CFI_cdesc_t* var,
                       const CFI_cdesc_t* name, const CFI_cdesc_t* value, int* ierr);
void thalweg_f_restart_put_att(const struct fortran_restart* restart, const CFI_cdesc_t* var,
                               const CFI_cdesc_t* name, const CFI_cdesc_t* value, int* ierr);
void thalweg_f_restart_get_att(const struct fortran_restart* restart, const CFI_cdesc_t* var,
                               const CFI_cdesc_t* name, const CFI_cdesc_t* value, int* ierr);

/* How the attributes of a file, or of a restart, are put and got. */
typedef int (*put_attribute)(void* owner, const char* var, const char* name, tw_type type,
                             int64_t n, const void* values);
typedef int (*get_attribute)(void* owner, const char* var, const char* name, tw_type type,
                             int64_t n, void* values);

static int put_file_att(void* owner, const char* var, const char* name, tw_type type, int64_t n,
                        const void* values) {
    return tw_put_att(owner, var, name, type, n, values);
}

static int put_restart_att(void* owner, const char* var, const char* name, tw_type type, int64_t n,
                           const void* values) {
    return tw_restart_put_att(owner, var, name, type, n, values);
}

static int get_file_att(void* owner, const char* var, const char* name, tw_type type, int64_t n,
                        void* values) {
    return tw_get_att(owner, var, name, type, n, values);
}

static int get_restart_att(void* owner, const char* var, const char* name, tw_type type, int64_t n,
                           void* values) {
    return tw_restart_get_att(owner, var, name, type, n, values);
}

static void get_att(get_attribute act, void* owner, tw_session session, const char* procedure,
                    const CFI_cdesc_t* var, const CFI_cdesc_t* name, const CFI_cdesc_t* value,
                    int* ierr) {
    const struct name of = thalweg_f_name(var);
    const struct name attribute = thalweg_f_name(name);
    const int64_t n = value->rank == 0 ? 1 : value->dim[0].extent;
    const int dense =
        value->rank == 0 || n <= 1 || value->dim[0].sm == (CFI_index_t)value->elem_len;
    if (value->rank > 1 || !dense) {
        thalweg_f_check(TW_ESHAPE, NULL,
                        "tw_get_att: value must be a scalar or a contiguous rank-1 array", ierr);
        return;
    }
    thalweg_f_check(
        act(owner, of.text, attribute.text, (tw_type)thalweg_f_type(value), n, value->base_addr),
        session, procedure, ierr);
}

void thalweg_f_get_att(const struct fortran_file* file, const CFI_cdesc_t* var,
                       const CFI_cdesc_t* name, const CFI_cdesc_t* value, int* ierr) {
    get_att(get_file_att, file->handle, file->session, "tw_get_att", var, name, value, ierr);
}

void thalweg_f_restart_get_att(const struct fortran_restart* restart, const CFI_cdesc_t* var,
                               const CFI_cdesc_t* name, const CFI_cdesc_t* value, int* ierr) {
    get_att(get_restart_att, restart->handle, restart->session, "tw_restart_get_att", var, name,
            value, ierr);
}

static int put_value(put_attribute act, void* owner, const CFI_cdesc_t* var,
                     const CFI_cdesc_t* name, const CFI_cdesc_t* value) {
    const struct name of = thalweg_f_name(var);
    const struct name attribute = thalweg_f_name(name);
    const tw_type type = (tw_type)thalweg_f_type(value);
    const size_t size = value->elem_len;
    if (value->rank == 0) {
        return act(owner, of.text, attribute.text, type, type == TW_CHAR ? (int64_t)size : 1,
                   value->base_addr);
    }
    const CFI_index_t n = value->dim[0].extent;
    if (n <= 1 || value->dim[0].sm == (CFI_index_t)size) {
        return act(owner, of.text, attribute.text, type, n, value->base_addr);
    }
    char* packed = malloc((size_t)n * size);
    if (packed == NULL) {
        return TW_ENOMEM;
    }
    for (CFI_index_t i = 0; i < n; ++i) {
        memcpy(packed + (size_t)i * size, (const char*)value->base_addr + i * value->dim[0].sm,
               size);
    }
    const int status = act(owner, of.text, attribute.text, type, n, packed);
    free(packed);
    return status;
}

static void put_att(put_attribute act, void* owner, tw_session session, const char* procedure,
                    const CFI_cdesc_t* var, const CFI_cdesc_t* name, const CFI_cdesc_t* value,
                    int* ierr) {
    if (value->rank > (value->type == CFI_type_char ? 0 : 1)) {
        thalweg_f_check(TW_ESHAPE, NULL,
                        "tw_put_att: value must be a scalar or a rank-1 array of numbers", ierr);
        return;
    }
    thalweg_f_check(put_value(act, owner, var, name, value), session, procedure, ierr);
}

void thalweg_f_put_att(const struct fortran_file* file, const CFI_cdesc_t* var,
                       const CFI_cdesc_t* name, const CFI_cdesc_t* value, int* ierr) {
    put_att(put_file_att, file->handle, file->session, "tw_put_att", var, name, value, ierr);
}

void thalweg_f_restart_put_att(const struct fortran_restart* restart, const CFI_cdesc_t* var,
                               const CFI_cdesc_t* name, const CFI_cdesc_t* value, int* ierr) {
    put_att(put_restart_att, restart->handle, restart->session, "tw_restart_put_att", var, name,
            value, ierr);
}
