/* Attributes of files.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "fortran.h"

/* Reads text into a character scalar, followed by blanks. */
static int get_text(const struct fortran_file* file, const char* var, const char* name,
                    const CFI_cdesc_t* value) {
    tw_type type = TW_CHAR;
    int64_t n = 0;
    const int64_t length = (int64_t)value->elem_len;
    int status = tw_inq_att(file->handle, var, name, &type, &n);
    if (status == TW_OK) {
        /* A text that is too long is TW_ESHAPE. */
        status =
            tw_get_att(file->handle, var, name, TW_CHAR, n < length ? n : length, value->base_addr);
    }
    if (status == TW_OK) {
        memset((char*)value->base_addr + n, ' ', (size_t)(length - n));
    }
    return status;
}

FROM_FORTRAN(void, thalweg_f_get_att, const struct fortran_file* file, const CFI_cdesc_t* var,
             const CFI_cdesc_t* name, const CFI_cdesc_t* value, int* ierr) {
    const struct name of = thalweg_f_name(var);
    const struct name attribute = thalweg_f_name(name);
    if (value->rank == 0 && thalweg_f_type(value) == TW_CHAR) {
        thalweg_f_check(get_text(file, of.text, attribute.text, value), file->session, "tw_get_att",
                        ierr);
        return;
    }
    const int64_t n = value->rank == 0 ? 1 : value->dim[0].extent;
    const int dense =
        value->rank == 0 || n <= 1 || value->dim[0].sm == (CFI_index_t)value->elem_len;
    if (value->rank > 1 || !dense || (value->rank > 0 && value->type == CFI_type_char)) {
        thalweg_f_check(
            TW_ESHAPE, NULL,
            "tw_get_att: value must be a scalar or a contiguous rank-1 array of numbers", ierr);
        return;
    }
    thalweg_f_check(tw_get_att(file->handle, of.text, attribute.text,
                               (tw_type)thalweg_f_type(value), n, value->base_addr),
                    file->session, "tw_get_att", ierr);
}

static int put_value(const struct fortran_file* file, const CFI_cdesc_t* var,
                     const CFI_cdesc_t* name, const CFI_cdesc_t* value) {
    const struct name of = thalweg_f_name(var);
    const struct name attribute = thalweg_f_name(name);
    const tw_type type = (tw_type)thalweg_f_type(value);
    const size_t size = value->elem_len;
    if (value->rank == 0) {
        return tw_put_att(file->handle, of.text, attribute.text, type,
                          type == TW_CHAR ? (int64_t)size : 1, value->base_addr);
    }
    const CFI_index_t n = value->dim[0].extent;
    if (n <= 1 || value->dim[0].sm == (CFI_index_t)size) {
        return tw_put_att(file->handle, of.text, attribute.text, type, n, value->base_addr);
    }
    char* packed = malloc((size_t)n * size);
    if (packed == NULL) {
        return TW_ENOMEM;
    }
    for (CFI_index_t i = 0; i < n; ++i) {
        memcpy(packed + (size_t)i * size, (const char*)value->base_addr + i * value->dim[0].sm,
               size);
    }
    const int status = tw_put_att(file->handle, of.text, attribute.text, type, n, packed);
    free(packed);
    return status;
}

FROM_FORTRAN(void, thalweg_f_put_att, const struct fortran_file* file, const CFI_cdesc_t* var,
             const CFI_cdesc_t* name, const CFI_cdesc_t* value, int* ierr) {
    if (value->rank > (value->type == CFI_type_char ? 0 : 1)) {
        thalweg_f_check(TW_ESHAPE, NULL,
                        "tw_put_att: value must be a scalar or a rank-1 array of numbers", ierr);
        return;
    }
    thalweg_f_check(put_value(file, var, name, value), file->session, "tw_put_att", ierr);
}
