/* Functions of netCDF that access a file without its dispatch table. If the front has taken the
 * file, they use the library's own id of the file, or calls that go to the table.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "front.h"

enum { type_string = 12, no_memory = -61 };
enum { megabyte = 1048576 };

static int is_engine(const struct library* library, int id) {
    const enum thalweg_owner owner = owner_of(library, id);
    return owner == thalweg_engine || owner == thalweg_ended;
}

static int inner(const struct library* library, int id) {
    const struct thalweg_front* const f = front_of(library);
    return f == NULL ? id : f->inner(&library->shared, id);
}

/* Finds the caller's library. Returns from the function if the library lacks the function `name`.
 */
#define REAL(name)                                                                                 \
    struct library* const library = library_of(CALLER);                                            \
    if (library == NULL || library->name == NULL) return netcdf_not_built

int nc_def_var_chunking_ints(int id, int variable, int storage, int* sizes) {
    REAL(nc_def_var_chunking_ints);
    if (!is_engine(library, id))
        return library->nc_def_var_chunking_ints(inner(library, id), variable, storage, sizes);
    int dimensions = 0;
    const int code = library->nc_inq_varndims(id, variable, &dimensions);
    if (code != 0 || sizes == NULL || dimensions == 0)
        return code != 0 ? code : library->nc_def_var_chunking(id, variable, storage, NULL);
    size_t wide[dimensions];
    for (int i = 0; i < dimensions; ++i) wide[i] = (size_t)sizes[i];
    return library->nc_def_var_chunking(id, variable, storage, wide);
}

int nc_inq_var_chunking_ints(int id, int variable, int* storage, int* sizes) {
    REAL(nc_inq_var_chunking_ints);
    if (!is_engine(library, id))
        return library->nc_inq_var_chunking_ints(inner(library, id), variable, storage, sizes);
    int dimensions = 0;
    int code = library->nc_inq_varndims(id, variable, &dimensions);
    if (code != 0) return code;
    size_t wide[dimensions + 1];
    memset(wide, 0, sizeof wide);
    code = library->nc_inq_var_chunking(id, variable, storage, wide);
    for (int i = 0; sizes != NULL && code == 0 && i < dimensions; ++i) sizes[i] = (int)wide[i];
    return code;
}

int nc_set_var_chunk_cache_ints(int id, int variable, int size, int slots, int preemption) {
    REAL(nc_set_var_chunk_cache_ints);
    if (!is_engine(library, id))
        return library->nc_set_var_chunk_cache_ints(inner(library, id), variable, size, slots,
                                                    preemption);
    size_t bytes = 0, wide_slots = 0;
    float share = 0;
    const int code = library->nc_get_var_chunk_cache(id, variable, &bytes, &wide_slots, &share);
    if (code != 0) return code;
    if (size >= 0) bytes = (size_t)size * megabyte;
    if (slots >= 0) wide_slots = (size_t)slots;
    if (preemption >= 0) share = (float)preemption / 100;
    return library->nc_set_var_chunk_cache(id, variable, bytes, wide_slots, share);
}

int nc_get_var_chunk_cache_ints(int id, int variable, int* size, int* slots, int* preemption) {
    REAL(nc_get_var_chunk_cache_ints);
    if (!is_engine(library, id))
        return library->nc_get_var_chunk_cache_ints(inner(library, id), variable, size, slots,
                                                    preemption);
    size_t bytes = 0, wide_slots = 0;
    float share = 0;
    const int code = library->nc_get_var_chunk_cache(id, variable, &bytes, &wide_slots, &share);
    if (code != 0) return code;
    if (size != NULL) *size = (int)(bytes / megabyte);
    if (slots != NULL) *slots = (int)wide_slots;
    if (preemption != NULL) *preemption = (int)(share * 100);
    return code;
}

/* Copies an attribute that consists of strings, by calls that go to the table. */
static int copy_strings(struct library* library, int from, int variable, const char* name, int to,
                        int into, size_t length) {
    char** const strings = calloc(length + 1, sizeof *strings);
    if (strings == NULL) return no_memory;
    int code = library->nc_get_att_string(from, variable, name, strings);
    if (code == 0) {
        code = library->nc_put_att_string(to, into, name, length, (const char**)strings);
        library->nc_free_string(length, strings);
    }
    free(strings);
    return code;
}

int nc_copy_att(int from, int variable, const char* name, int to, int into) {
    REAL(nc_copy_att);
    int type = 0;
    size_t length = 0;
    if (is_engine(library, from) || is_engine(library, to)) {
        const int code = library->nc_inq_att(from, variable, name, &type, &length);
        if (code != 0) return code;
        if (type > type_string) return netcdf_bad_type;
        if (type == type_string)
            return copy_strings(library, from, variable, name, to, into, length);
    }
    return library->nc_copy_att(inner(library, from), variable, name, inner(library, to), into);
}

int nc_copy_var(int from, int variable, int to) {
    REAL(nc_copy_var);
    return library->nc_copy_var(inner(library, from), variable, inner(library, to));
}

/* Frees the strings of an array. */
static int free_strings(void* memory, size_t count) {
    char** const strings = memory;
    for (size_t i = 0; i < count; ++i) {
        free(strings[i]);
        strings[i] = NULL;
    }
    return 0;
}

int nc_reclaim_data(int id, int type, void* memory, size_t count) {
    REAL(nc_reclaim_data);
    if (memory != NULL && type == type_string && is_engine(library, id))
        return free_strings(memory, count);
    return library->nc_reclaim_data(inner(library, id), type, memory, count);
}

int nc_reclaim_data_all(int id, int type, void* memory, size_t count) {
    REAL(nc_reclaim_data_all);
    if (memory != NULL && type == type_string && is_engine(library, id)) {
        free_strings(memory, count);
        free(memory);
        return 0;
    }
    return library->nc_reclaim_data_all(inner(library, id), type, memory, count);
}

/* Copies the strings of an array. */
static int duplicate_strings(const void* memory, size_t count, void* copy) {
    char* const* const strings = memory;
    char** const copies = copy;
    for (size_t i = 0; i < count; ++i) {
        copies[i] = strings[i] != NULL ? strdup(strings[i]) : NULL;
        if (strings[i] == NULL || copies[i] != NULL) continue;
        free_strings(copies, i);
        return no_memory;
    }
    return 0;
}

int nc_copy_data(int id, int type, const void* memory, size_t count, void* copy) {
    REAL(nc_copy_data);
    if (memory != NULL && copy != NULL && type == type_string && is_engine(library, id))
        return duplicate_strings(memory, count, copy);
    return library->nc_copy_data(inner(library, id), type, memory, count, copy);
}

int nc_copy_data_all(int id, int type, const void* memory, size_t count, void** copy) {
    REAL(nc_copy_data_all);
    if (memory == NULL || copy == NULL || type != type_string || !is_engine(library, id))
        return library->nc_copy_data_all(inner(library, id), type, memory, count, copy);
    *copy = calloc(count + 1, sizeof(char*));
    if (*copy == NULL) return no_memory;
    const int code = duplicate_strings(memory, count, *copy);
    if (code == 0) return 0;
    free(*copy);
    *copy = NULL;
    return code;
}

int nc_dump_data(int id, int type, void* memory, size_t count, char** text) {
    REAL(nc_dump_data);
    if (type >= type_string && is_engine(library, id)) return netcdf_bad_type;
    return library->nc_dump_data(inner(library, id), type, memory, count, text);
}
