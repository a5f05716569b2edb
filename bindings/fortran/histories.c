/* Fields and coordinates of histories.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "fortran.h"

struct fortran_history {
    tw_history handle;
    tw_session session;
};
struct fortran_field {
    tw_field handle;
    tw_session session;
};

FROM_FORTRAN(void, thalweg_f_coordinate, const struct fortran_history* history,
             const CFI_cdesc_t* name, const CFI_cdesc_t* dims, const CFI_cdesc_t* array,
             const struct fortran_decomposition* decomposition, const CFI_cdesc_t* attributes,
             int* ierr) {
    const struct name var = thalweg_f_name(name);
    const struct view view = thalweg_f_view(array);
    if (thalweg_f_is_empty(decomposition)) {
        thalweg_f_check(TW_EHANDLE, NULL,
                        "tw_history_coordinate: the decomposition was never created, or was freed",
                        ierr);
        return;
    }
    char* names = thalweg_f_reversed(dims);
    const size_t length = attributes == NULL ? 0 : attributes->elem_len;
    char* text = malloc(length + 1);
    int status = TW_ENOMEM;
    if (names != NULL && text != NULL) {
        if (length > 0) memcpy(text, attributes->base_addr, length);
        text[length] = '\0';
        status = tw_history_coordinate(history->handle, var.text, names,
                                       decomposition == NULL ? NULL : decomposition->handle,
                                       thalweg_f_array(&view), text);
    }
    free(names);
    free(text);
    thalweg_f_check(status, history->session, "tw_history_coordinate", ierr);
}

FROM_FORTRAN(void, thalweg_f_send, const struct fortran_field* field, const CFI_cdesc_t* array,
             const double* weight, int* ierr) {
    const struct view view = thalweg_f_view(array);
    const int status = tw_send_array(field->handle, thalweg_f_array(&view), weight);
    thalweg_f_check(status, field->session, "tw_send", ierr);
}

FROM_FORTRAN(void, thalweg_f_send_block, const struct fortran_field* field, const int* block,
             const CFI_cdesc_t* array, int* ierr) {
    const struct view view = thalweg_f_view(array);
    int64_t n = 1;
    for (int d = 0; d < view.rank; ++d) n *= view.extent[d];
    if (array->rank > 0 && n > 0 && !CFI_is_contiguous(array)) {
        thalweg_f_check(TW_ESHAPE, NULL, "tw_send_block: the array is not contiguous", ierr);
        return;
    }
    const int status = tw_send_block(field->handle, *block - 1, (tw_type)view.type, view.data, n);
    thalweg_f_check(status, field->session, "tw_send_block", ierr);
}
