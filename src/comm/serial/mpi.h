/* Stands in for MPI where the library is built without it (THALWEG_MPI=OFF): the calls that its
 * sources make, for one process. MPI does not run, communicators hold this process alone, and
 * no message is sent. Not installed: the public headers need no MPI then.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef THALWEG_COMM_SERIAL_MPI_H
#define THALWEG_COMM_SERIAL_MPI_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MPI_SUCCESS = 0, MPI_THREAD_SINGLE = 0, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED };

typedef int MPI_Fint;
typedef int MPI_Request;
enum { MPI_REQUEST_NULL = 0 };
typedef struct MPI_Status {
    int MPI_SOURCE;
} MPI_Status;
#define MPI_STATUS_IGNORE ((MPI_Status*)0)
enum { MPI_ANY_SOURCE = -1 };

typedef int MPI_Comm;
enum { MPI_COMM_NULL = 0, MPI_COMM_SELF = 1, MPI_COMM_WORLD = 2 };

/* An MPI_Datatype is represented by the size of its elements. */
typedef size_t MPI_Datatype;
#define MPI_BYTE ((MPI_Datatype)1)
#define MPI_INT sizeof(int)
#define MPI_INT64_T sizeof(int64_t)
#define MPI_DOUBLE sizeof(double)
typedef int MPI_Op;
enum { MPI_SUM, MPI_MIN, MPI_MAX };

/* ---- beginning and end ---- */

static inline int MPI_Init(int* argc, char*** argv) {
    (void)argc, (void)argv;
    return MPI_SUCCESS;
}
static inline int MPI_Init_thread(int* argc, char*** argv, int wanted, int* provided) {
    *provided = wanted;
    return MPI_Init(argc, argv);
}
static inline int MPI_Initialized(int* flag) {
    *flag = 0;
    return MPI_SUCCESS;
}
static inline int MPI_Finalized(int* flag) {
    *flag = 0;
    return MPI_SUCCESS;
}
static inline int MPI_Query_thread(int* level) {
    *level = MPI_THREAD_FUNNELED;
    return MPI_SUCCESS;
}
static inline int MPI_Finalize(void) { return MPI_SUCCESS; }
static inline int MPI_Abort(MPI_Comm comm, int code) {
    (void)comm;
    exit(code);
}
enum { MPI_MAX_LIBRARY_VERSION_STRING = 16 };
static inline int MPI_Get_library_version(char* text, int* length) {
    strcpy(text, "no MPI");
    *length = 6;
    return MPI_SUCCESS;
}
static inline double MPI_Wtime(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- communicators ---- */

static inline int MPI_Comm_rank(MPI_Comm comm, int* rank) {
    (void)comm;
    *rank = 0;
    return MPI_SUCCESS;
}
static inline int MPI_Comm_size(MPI_Comm comm, int* size) {
    (void)comm;
    *size = 1;
    return MPI_SUCCESS;
}
static inline int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* copy) {
    *copy = comm;
    return MPI_SUCCESS;
}
static inline int MPI_Comm_free(MPI_Comm* comm) {
    *comm = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

static inline MPI_Fint MPI_Comm_c2f(MPI_Comm comm) { return comm; }

/* MPI_Finalize deletes attributes; here that never happens. */
typedef int MPI_Comm_copy_attr_function(MPI_Comm, int, void*, void*, void*, int*);
typedef int MPI_Comm_delete_attr_function(MPI_Comm, int, void*, void*);
#define MPI_COMM_NULL_COPY_FN ((MPI_Comm_copy_attr_function*)0)
enum { MPI_KEYVAL_INVALID = 0 };
static inline int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function* copy,
                                         MPI_Comm_delete_attr_function* on_deletion, int* key,
                                         void* state) {
    (void)copy, (void)on_deletion, (void)key, (void)state;
    return MPI_SUCCESS;
}
static inline int MPI_Comm_set_attr(MPI_Comm comm, int key, void* value) {
    (void)comm, (void)key, (void)value;
    return MPI_SUCCESS;
}
static inline int MPI_Comm_get_attr(MPI_Comm comm, int key, void* value, int* found) {
    (void)comm, (void)key, (void)value;
    *found = 0;
    return MPI_SUCCESS;
}
static inline int MPI_Comm_free_keyval(int* key) {
    (void)key;
    return MPI_SUCCESS;
}

/* ---- collective calls: the result is what this process gives ---- */

static inline int MPI_Barrier(MPI_Comm comm) {
    (void)comm;
    return MPI_SUCCESS;
}
static inline int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
    (void)comm;
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}
static inline int MPI_Bcast(void* data, int n, MPI_Datatype type, int root, MPI_Comm comm) {
    (void)data, (void)n, (void)type, (void)root, (void)comm;
    return MPI_SUCCESS;
}
static inline int MPI_Allreduce(const void* mine, void* all, int n, MPI_Datatype type, MPI_Op op,
                                MPI_Comm comm) {
    (void)op, (void)comm;
    memcpy(all, mine, (size_t)n * type);
    return MPI_SUCCESS;
}

/* ---- messages: no other process sends any ---- */

static inline int MPI_Isend(const void* data, int n, MPI_Datatype type, int to, int tag,
                            MPI_Comm comm, MPI_Request* request) {
    (void)data, (void)n, (void)type, (void)to, (void)tag;
    return MPI_Ibarrier(comm, request);
}
static inline int MPI_Wait(MPI_Request* request, MPI_Status* status) {
    (void)request, (void)status;
    return MPI_SUCCESS;
}
static inline int MPI_Test(MPI_Request* request, int* done, MPI_Status* status) {
    *done = 1;
    return MPI_Wait(request, status);
}
static inline int MPI_Iprobe(int from, int tag, MPI_Comm comm, int* arrived, MPI_Status* status) {
    (void)from, (void)tag, (void)comm, (void)status;
    *arrived = 0;
    return MPI_SUCCESS;
}
static inline int MPI_Get_count(const MPI_Status* status, MPI_Datatype type, int* n) {
    (void)status, (void)type;
    *n = 0;
    return MPI_SUCCESS;
}
static inline int MPI_Recv(void* data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                           MPI_Status* status) {
    (void)data, (void)n, (void)type, (void)from, (void)tag, (void)comm, (void)status;
    return MPI_SUCCESS;
}

#endif
