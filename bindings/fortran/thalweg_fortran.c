/* The C side of the Fortran interface: turns array descriptors into calls of tw_put_strided and
 * similar functions, and stops the program at errors if there is no ierr.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <ISO_Fortran_binding.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <thalweg/thalweg.h>
#include <unistd.h>

/* The derived types of the Fortran modules. */
struct fortran_decomposition {
    tw_decomposition handle;
    tw_session session;
    int ndims;
};
struct fortran_file {
    tw_file handle;
    tw_session session;
};
struct fortran_restart {
    tw_restart handle;
    tw_session session;
};

/* A Fortran array in C's order of dimensions. */
struct view {
    void* data;
    int type; /* negative: a type that a file cannot hold */
    int rank;
    int64_t extent[CFI_MAX_RANK + 1];
    int64_t stride[CFI_MAX_RANK + 1]; /* in bytes */
};

/* Largest number of dimensions of a variable. */
enum { max_dims = 16 };

/* netCDF's names have at most 256 bytes; longer ones are cut to 257 and so found too long. */
enum { name_size = 258 };
struct name {
    char text[name_size];
};

int thalweg_f_init(int comm, const char* settings, tw_session* session);
int thalweg_f_model_comm(tw_session session, int* comm);
void thalweg_f_check(int status, tw_session session, const char* procedure, int* ierr);
void thalweg_f_put(const struct fortran_file* file, const CFI_cdesc_t* name,
                   const CFI_cdesc_t* array, int* ierr);
void thalweg_f_put_deferred(const struct fortran_file* file, const CFI_cdesc_t* name,
                            const CFI_cdesc_t* array, int* ierr);
void thalweg_f_put_record(const struct fortran_file* file, const CFI_cdesc_t* name,
                          const CFI_cdesc_t* array,
                          const struct fortran_decomposition* decomposition, const int* record,
                          int* ierr);
void thalweg_f_put_box_int32(const struct fortran_file* file, const CFI_cdesc_t* name,
                             const CFI_cdesc_t* array, const CFI_cdesc_t* start,
                             const CFI_cdesc_t* count, int* ierr);
void thalweg_f_put_box_int64(const struct fortran_file* file, const CFI_cdesc_t* name,
                             const CFI_cdesc_t* array, const CFI_cdesc_t* start,
                             const CFI_cdesc_t* count, int* ierr);
void thalweg_f_get(const struct fortran_file* file, const CFI_cdesc_t* name,
                   const CFI_cdesc_t* array, const struct fortran_decomposition* decomposition,
                   const int* record, int* ierr);
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
void thalweg_f_put_att(const struct fortran_file* file, const CFI_cdesc_t* var,
                       const CFI_cdesc_t* name, const CFI_cdesc_t* value, int* ierr);
void thalweg_f_get_deferred(const struct fortran_file* file, const CFI_cdesc_t* name,
                            const CFI_cdesc_t* array,
                            const struct fortran_decomposition* decomposition, const int* record,
                            int* ierr);
void thalweg_f_get_att(const struct fortran_file* file, const CFI_cdesc_t* var,
                       const CFI_cdesc_t* name, const CFI_cdesc_t* value, int* ierr);

void thalweg_f_restart_add(const struct fortran_restart* restart, const CFI_cdesc_t* name,
                           const CFI_cdesc_t* dims, const CFI_cdesc_t* array,
                           const struct fortran_decomposition* decomposition, const int* flags,
                           int* ierr);
void thalweg_f_restart_get(const struct fortran_restart* restart, const CFI_cdesc_t* name,
                           const CFI_cdesc_t* dims, const CFI_cdesc_t* array,
                           const struct fortran_decomposition* decomposition, const int* flags,
                           int* ierr);
void thalweg_f_restart_put_att(const struct fortran_restart* restart, const CFI_cdesc_t* var,
                               const CFI_cdesc_t* name, const CFI_cdesc_t* value, int* ierr);
void thalweg_f_restart_get_att(const struct fortran_restart* restart, const CFI_cdesc_t* var,
                               const CFI_cdesc_t* name, const CFI_cdesc_t* value, int* ierr);

static struct name name_of(const CFI_cdesc_t* text) {
    struct name name;
    size_t length = text->elem_len;
    const char* from = text->base_addr;
    while (length > 0 && from[length - 1] == ' ') {
        --length;
    }
    if (length > name_size - 1) {
        length = name_size - 1;
    }
    memcpy(name.text, from, length);
    name.text[length] = '\0';
    return name;
}

static int type_of(const CFI_cdesc_t* array) {
    /* Pairs, not a switch: the CFI names of one size may be one value or two. */
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
    /* The library tells these apart, to say what to use instead (src/index/types.hpp). */
#ifdef CFI_type_Logical
    if ((array->type & CFI_type_mask) == CFI_type_Logical) {
        return -1001;
    }
#endif
    if (array->type == CFI_type_Bool) {
        return -1001;
    }
    if (array->type == CFI_type_float_Complex || array->type == CFI_type_double_Complex) {
        return -1002;
    }
    return -1003;
}

static struct view view_of(const CFI_cdesc_t* array) {
    struct view view;
    view.data = array->base_addr;
    view.type = type_of(array);
    view.rank = 0;
    for (int d = array->rank - 1; d >= 0; --d) {
        /* Not allocated: the bounds mean nothing. */
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

int thalweg_f_init(int comm, const char* settings, tw_session* session) {
    int started = 0;
    int ended = 0;
    MPI_Initialized(&started);
    MPI_Finalized(&ended);
    /* The program's own settings come later, and win. */
    static const char ours[] = "language=fortran; ";
    char* all = malloc(sizeof ours + strlen(settings));
    if (all != NULL) {
        strcpy(all, ours);
        strcat(all, settings);
    }
    /* Where MPI is not running, tw_init says so; MPI_Comm_f2c ends the program. */
    const MPI_Comm given = started && !ended ? MPI_Comm_f2c((MPI_Fint)comm) : MPI_COMM_NULL;
    const int status = tw_init(given, all == NULL ? settings : all, session);
    free(all);
    return status;
}

int thalweg_f_model_comm(tw_session session, int* comm) {
    MPI_Comm found = MPI_COMM_NULL;
    const int status = tw_model_comm(session, &found);
    *comm = (int)MPI_Comm_c2f(found);
    return status;
}

static void stop(int status, tw_session session, const char* procedure) {
    int started = 0;
    int ended = 0;
    MPI_Initialized(&started);
    MPI_Finalized(&ended);
    const char* text = tw_error_message(session);
    if (started && !ended) {
        int rank = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        // Print an error of all ranks only once: rank 0 aborts the others while they sleep.
        if (rank > 0) sleep(1);
        fprintf(stderr, "thalweg: rank %d: %s: %s%s%s\n", rank, procedure, tw_strerror(status),
                *text == '\0' ? "" : "\n  ", text);
        fflush(NULL);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    fprintf(stderr, "thalweg: %s: %s%s%s\n", procedure, tw_strerror(status),
            *text == '\0' ? "" : "\n  ", text);
    exit(EXIT_FAILURE);
}

void thalweg_f_check(int status, tw_session session, const char* procedure, int* ierr) {
    if (ierr != NULL) {
        *ierr = status;
    } else if (status != TW_OK) {
        stop(status, session, procedure);
    }
}

static int put(const struct fortran_file* file, const CFI_cdesc_t* name, const CFI_cdesc_t* array,
               int flags) {
    const struct name var = name_of(name);
    const struct view view = view_of(array);
    return tw_put_strided(file->handle, var.text, (tw_type)view.type, view.data, view.rank,
                          view.extent, view.stride, flags);
}

void thalweg_f_put(const struct fortran_file* file, const CFI_cdesc_t* name,
                   const CFI_cdesc_t* array, int* ierr) {
    thalweg_f_check(put(file, name, array, TW_COPY), file->session, "tw_put", ierr);
}

void thalweg_f_put_deferred(const struct fortran_file* file, const CFI_cdesc_t* name,
                            const CFI_cdesc_t* array, int* ierr) {
    thalweg_f_check(put(file, name, array, TW_DEFERRED), file->session, "tw_put_deferred", ierr);
}

void thalweg_f_put_record(const struct fortran_file* file, const CFI_cdesc_t* name,
                          const CFI_cdesc_t* array,
                          const struct fortran_decomposition* decomposition, const int* record,
                          int* ierr) {
    const struct name var = name_of(name);
    const struct view view = view_of(array);
    if (decomposition != NULL && decomposition->handle == NULL) {
        thalweg_f_check(TW_EHANDLE, NULL, "tw_put_record: the decomposition was never created",
                        ierr);
        return;
    }
    thalweg_f_check(tw_put_record_strided(file->handle, var.text,
                                          decomposition == NULL ? NULL : decomposition->handle,
                                          (int64_t)*record - 1, (tw_type)view.type, view.data,
                                          view.rank, view.extent, view.stride),
                    file->session, "tw_put_record", ierr);
}

/* The integers of a vector in reverse order; the rest are never valid as indices or counts. */
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

/* Copies the elements from dimension d on, one after the other. */
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

/* The reverse: from dense elements to those of an array. */
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

/* Appends a list of lengths in Fortran's order, the reverse of the given one. */
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

/* A box of a variable in C's order, and the array that has its values. */
struct box {
    struct view view;
    size_t size; /* of an element */
    int64_t n;   /* elements */
    int dense;   /* whether they lie one after the other */
    int64_t start[max_dims], count[max_dims], stride[max_dims];
};

/* @param stride  NULL: all 1
 * @param why     receives the text of an error that is detected here and not by the library */
static int box_of(const char* procedure, const char* name, const CFI_cdesc_t* array,
                  const CFI_cdesc_t* start, const CFI_cdesc_t* count, const CFI_cdesc_t* stride,
                  struct box* box, char* why, size_t room) {
    const struct view view = view_of(array);
    const CFI_index_t nd = start->dim[0].extent;
    box->view = view;
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
        volume *= box->count[d];
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

/* Dense memory for a box whose array is not; NULL if it needs none. */
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
                   char* why, size_t room) {
    const struct name var = name_of(name);
    struct box box;
    char* packed = NULL;
    int status = box_of("tw_put_box", var.text, array, start, count, NULL, &box, why, room);
    if (status == TW_OK) {
        status = memory_of("tw_put_box", var.text, &box, &packed, why, room);
    }
    if (status != TW_OK) {
        return status;
    }
    if (packed != NULL) {
        pack(&box.view, 0, box.view.data, box.size, packed);
    }
    status = tw_put_box(file->handle, var.text, (tw_type)box.view.type, box.start, box.count,
                        packed == NULL ? box.view.data : packed);
    free(packed);
    return status;
}

static void check_box(const struct fortran_file* file, const CFI_cdesc_t* name,
                      const CFI_cdesc_t* array, const CFI_cdesc_t* start, const CFI_cdesc_t* count,
                      int* ierr) {
    char why[name_size + 400] = "";
    const int status = put_box(file, name, array, start, count, why, sizeof why);
    if (why[0] != '\0') {
        thalweg_f_check(status, NULL, why, ierr);
    } else {
        thalweg_f_check(status, file->session, "tw_put_box", ierr);
    }
}

void thalweg_f_put_box_int32(const struct fortran_file* file, const CFI_cdesc_t* name,
                             const CFI_cdesc_t* array, const CFI_cdesc_t* start,
                             const CFI_cdesc_t* count, int* ierr) {
    check_box(file, name, array, start, count, ierr);
}

void thalweg_f_put_box_int64(const struct fortran_file* file, const CFI_cdesc_t* name,
                             const CFI_cdesc_t* array, const CFI_cdesc_t* start,
                             const CFI_cdesc_t* count, int* ierr) {
    check_box(file, name, array, start, count, ierr);
}

/* Collective: a rank whose arguments do not fit each other takes part with a box that cannot be. */
static void get_box(const struct fortran_file* file, const CFI_cdesc_t* name,
                    const CFI_cdesc_t* array, const CFI_cdesc_t* start, const CFI_cdesc_t* count,
                    const CFI_cdesc_t* stride, int* ierr) {
    const struct name var = name_of(name);
    struct box box;
    char* packed = NULL;
    char why[name_size + 400] = "";
    int own = box_of("tw_get_box", var.text, array, start, count, stride, &box, why, sizeof why);
    if (own == TW_OK) {
        own = memory_of("tw_get_box", var.text, &box, &packed, why, sizeof why);
    }
    for (int d = 0; own != TW_OK && d < max_dims; ++d) {
        box.start[d] = 0;
        box.count[d] = -1;
    }
    void* to = own != TW_OK ? NULL : packed == NULL ? box.view.data : packed;
    const int status =
        tw_get_box(file->handle, var.text, (tw_type)box.view.type, box.start, box.count,
                   stride == NULL || own != TW_OK ? NULL : box.stride, to);
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

/* Collective: a rank without the decomposition takes part with an invalid array. */
static void get(const struct fortran_file* file, const CFI_cdesc_t* name, const CFI_cdesc_t* array,
                const struct fortran_decomposition* decomposition, const int* record, int flags,
                int* ierr) {
    const struct name var = name_of(name);
    const struct view view = view_of(array);
    const int never_made = decomposition != NULL && decomposition->handle == NULL;
    const int status =
        tw_get_strided(file->handle, var.text, decomposition == NULL ? NULL : decomposition->handle,
                       record == NULL ? 0 : (int64_t)*record - 1, (tw_type)view.type, view.data,
                       never_made ? -1 : view.rank, view.extent, view.stride, flags);
    if (never_made)
        thalweg_f_check(TW_EHANDLE, NULL, "tw_get: the decomposition was never created", ierr);
    else
        thalweg_f_check(status, file->session, flags == TW_COPY ? "tw_get" : "tw_get_deferred",
                        ierr);
}

void thalweg_f_get(const struct fortran_file* file, const CFI_cdesc_t* name,
                   const CFI_cdesc_t* array, const struct fortran_decomposition* decomposition,
                   const int* record, int* ierr) {
    get(file, name, array, decomposition, record, TW_COPY, ierr);
}

void thalweg_f_get_deferred(const struct fortran_file* file, const CFI_cdesc_t* name,
                            const CFI_cdesc_t* array,
                            const struct fortran_decomposition* decomposition, const int* record,
                            int* ierr) {
    get(file, name, array, decomposition, record, TW_DEFERRED, ierr);
}

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
    const struct name of = name_of(var);
    const struct name attribute = name_of(name);
    const int64_t n = value->rank == 0 ? 1 : value->dim[0].extent;
    const int dense =
        value->rank == 0 || n <= 1 || value->dim[0].sm == (CFI_index_t)value->elem_len;
    if (value->rank > 1 || !dense) {
        thalweg_f_check(TW_ESHAPE, NULL,
                        "tw_get_att: value must be a scalar or a contiguous rank-1 array", ierr);
        return;
    }
    thalweg_f_check(
        act(owner, of.text, attribute.text, (tw_type)type_of(value), n, value->base_addr), session,
        procedure, ierr);
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
    const struct name of = name_of(var);
    const struct name attribute = name_of(name);
    const tw_type type = (tw_type)type_of(value);
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

/* The names of a list in reverse order, for C; NULL if there is no memory. A backslash escapes a
 * blank or a backslash in a name. */
static char* reversed(const CFI_cdesc_t* names) {
    const char* from = names->base_addr;
    const size_t size = names->elem_len;
    char* list = malloc(size + 2);
    if (list == NULL) {
        return NULL;
    }
    /* Filled from its end: the first name comes last. */
    char* to = list + size + 1;
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
        if (*to != '\0') {
            *--to = ' ';
        }
        to -= end - begin;
        memcpy(to, from + begin, end - begin);
        begin = end;
    }
    memmove(list, to, strlen(to) + 1);
    return list;
}

void thalweg_f_restart_add(const struct fortran_restart* restart, const CFI_cdesc_t* name,
                           const CFI_cdesc_t* dims, const CFI_cdesc_t* array,
                           const struct fortran_decomposition* decomposition, const int* flags,
                           int* ierr) {
    const struct name var = name_of(name);
    const struct view view = view_of(array);
    if (decomposition != NULL && decomposition->handle == NULL) {
        thalweg_f_check(TW_EHANDLE, NULL, "tw_restart_add: the decomposition was never created",
                        ierr);
        return;
    }
    char* names = reversed(dims);
    if (names == NULL) {
        thalweg_f_check(TW_ENOMEM, NULL, "tw_restart_add", ierr);
        return;
    }
    const int status = tw_restart_add_strided(restart->handle, var.text, (tw_type)view.type, names,
                                              decomposition == NULL ? NULL : decomposition->handle,
                                              view.data, view.rank, view.extent, view.stride,
                                              flags == NULL ? TW_REQUIRED : *flags);
    free(names);
    thalweg_f_check(status, restart->session, "tw_restart_add", ierr);
}

/* Collective: a rank that has no decomposition, or no memory, takes part with an invalid
 * array. */
void thalweg_f_restart_get(const struct fortran_restart* restart, const CFI_cdesc_t* name,
                           const CFI_cdesc_t* dims, const CFI_cdesc_t* array,
                           const struct fortran_decomposition* decomposition, const int* flags,
                           int* ierr) {
    const struct name var = name_of(name);
    const struct view view = view_of(array);
    const int never_made = decomposition != NULL && decomposition->handle == NULL;
    char* names = reversed(dims);
    const int impossible = never_made || names == NULL;
    const int status = tw_restart_get_strided(restart->handle, var.text, (tw_type)view.type,
                                              names == NULL ? "" : names,
                                              decomposition == NULL ? NULL : decomposition->handle,
                                              view.data, impossible ? -1 : view.rank, view.extent,
                                              view.stride, flags == NULL ? TW_REQUIRED : *flags);
    if (never_made) {
        thalweg_f_check(TW_EHANDLE, NULL, "tw_restart_get: the decomposition was never created",
                        ierr);
    } else {
        thalweg_f_check(names == NULL ? TW_ENOMEM : status, restart->session, "tw_restart_get",
                        ierr);
    }
    free(names);
}
