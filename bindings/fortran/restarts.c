/* Arrays of restarts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>

#include "fortran.h"

FROM_FORTRAN(void, thalweg_f_restart_add, const struct fortran_restart* restart,
             const CFI_cdesc_t* name, const CFI_cdesc_t* dims, const CFI_cdesc_t* array,
             const struct fortran_decomposition* decomposition, const int* flags, int* ierr) {
    const struct name var = thalweg_f_name(name);
    const struct view view = thalweg_f_view(array);
    if (thalweg_f_is_empty(decomposition)) {
        thalweg_f_check(TW_EHANDLE, NULL,
                        "tw_restart_add: the decomposition was never created, or was freed", ierr);
        return;
    }
    char* names = thalweg_f_reversed(dims);
    if (names == NULL) {
        thalweg_f_check(TW_ENOMEM, NULL, "tw_restart_add", ierr);
        return;
    }
    const int status = tw_restart_add_array(
        restart->handle, var.text, names, decomposition == NULL ? NULL : decomposition->handle,
        thalweg_f_array(&view), flags == NULL ? TW_REQUIRED : *flags);
    free(names);
    thalweg_f_check(status, restart->session, "tw_restart_add", ierr);
}
