/* Converts the descriptors of Fortran arrays and texts to C's addresses, extents and strides.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "fortran.h"

void thalweg_f_copy(const CFI_cdesc_t* from, char* to, size_t size) {
    const char* text = from->base_addr;
    size_t length = from->elem_len;
    while (length > 0 && text[length - 1] == ' ') {
        --length;
    }
    if (length > size - 1) {
        length = size - 1;
    }
    memcpy(to, text, length);
    to[length] = '\0';
}

struct name thalweg_f_name(const CFI_cdesc_t* text) {
    struct name name;
    thalweg_f_copy(text, name.text, sizeof name.text);
    return name;
}

int thalweg_f_type(const CFI_cdesc_t* array) {
    /* A list of pairs instead of a switch, because CFI type names of the same size can have the
     * same value. */
    static const struct {
        CFI_type_t fortran;
        size_t size;
        int type;
    } table[] = {
        {CFI_type_int8_t, 1, TW_BYTE},     {CFI_type_signed_char, 1, TW_BYTE},
        {CFI_type_int16_t, 2, TW_SHORT},   {CFI_type_short, 2, TW_SHORT},
        {CFI_type_int32_t, 4, TW_INT},     {CFI_type_int, 4, TW_INT},
        {CFI_type_int64_t, 8, TW_INT64},   {CFI_type_long, 8, TW_INT64},
        {CFI_type_long_long, 8, TW_INT64}, {CFI_type_float, 4, TW_FLOAT},
        {CFI_type_double, 8, TW_DOUBLE},
    };
    if (array->type == CFI_type_char) {
        return TW_CHAR;
    }
    for (size_t i = 0; i < sizeof table / sizeof table[0]; ++i) {
        if (array->type == table[i].fortran && array->elem_len == table[i].size) {
            return table[i].type;
        }
    }
    /* Each number stands for a kind of Fortran type. The library's message says what to use instead
     * (src/index/types.hpp). */
#ifdef CFI_type_Logical
    if ((array->type & CFI_type_mask) == CFI_type_Logical) {
        return -1001;
    }
#endif
    if (array->type == CFI_type_Bool) {
        return -1001;
    }
    /* Logicals of 2, 4 and 8 bytes in LLVM. Where these names mean integers, they are in the table
     * above. */
    if (array->type == CFI_type_int_least16_t || array->type == CFI_type_int_least32_t ||
        array->type == CFI_type_int_least64_t) {
        return -1001;
    }
    if (array->type == CFI_type_float_Complex || array->type == CFI_type_double_Complex) {
        return -1002;
    }
    return -1003;
}

struct view thalweg_f_view(const CFI_cdesc_t* array) {
    struct view view;
    view.data = array->base_addr;
    view.type = thalweg_f_type(array);
    view.rank = 0;
    for (int d = array->rank - 1; d >= 0; --d) {
        /* If the array is not allocated, its bounds have no meaning. */
        view.extent[view.rank] = array->base_addr == NULL ? 0 : array->dim[d].extent;
        view.stride[view.rank] = array->base_addr == NULL ? 0 : array->dim[d].sm;
        ++view.rank;
    }
    if (view.type == TW_CHAR && array->elem_len != 1) {
        view.extent[view.rank] = (int64_t)array->elem_len;
        view.stride[view.rank] = 1;
        ++view.rank;
    }
    return view;
}

tw_array thalweg_f_array(const struct view* view) {
    return tw_strided((tw_type)view->type, view->data, view->rank, view->extent, view->stride);
}

int thalweg_f_reverse(const char* from, size_t size, char* list) {
    /* Fill the text from its end: the first name comes last. */
    char* to = list + size;
    int names = 0;
    *to = '\0';
    for (size_t begin = 0; begin < size;) {
        if (from[begin] == ' ') {
            ++begin;
            continue;
        }
        size_t end = begin;
        while (end < size && from[end] != ' ') {
            const int kept = from[end] == '\\' && end + 1 < size &&
                             (from[end + 1] == ' ' || from[end + 1] == '\\');
            end += kept ? 2 : 1;
        }
        if (names++ > 0) {
            *--to = ' ';
        }
        to -= end - begin;
        memcpy(to, from + begin, end - begin);
        begin = end;
    }
    memmove(list, to, strlen(to) + 1);
    return names;
}

char* thalweg_f_reversed(const CFI_cdesc_t* names) {
    char* list = malloc(names->elem_len + 1);
    if (list != NULL) {
        thalweg_f_reverse(names->base_addr, names->elem_len, list);
    }
    return list;
}

int thalweg_f_is_empty(const struct fortran_decomposition* decomposition) {
    return decomposition != NULL && decomposition->handle == NULL;
}
