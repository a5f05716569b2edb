/* SPDX-License-Identifier: Apache-2.0 */
#include "count_mpi.h"

#include <execinfo.h>
#include <mpi.h>
#include <stdio.h>

static mpi_counts counts;
static int traced;

mpi_counts count_mpi(void) { return counts; }

void trace_mpi(int on) { traced = on; }

static void note(int* count, const char* name) {
    void* frames[12];
    ++*count;
    if (!traced) return;
    fprintf(stderr, "%s\n", name);
    backtrace_symbols_fd(frames, backtrace(frames, 12), 2);
}

#define COLLECTIVE(name, parameters, arguments)                                                    \
    int MPI_##name parameters {                                                                    \
        note(&counts.collectives, "MPI_" #name);                                                   \
        return PMPI_##name arguments;                                                              \
    }
#define COMMUNICATOR(name, parameters, arguments)                                                  \
    int MPI_##name parameters {                                                                    \
        note(&counts.communicators, "MPI_" #name);                                                 \
        return PMPI_##name arguments;                                                              \
    }

COLLECTIVE(Barrier, (MPI_Comm c), (c))
COLLECTIVE(Ibarrier, (MPI_Comm c, MPI_Request* r), (c, r))
COLLECTIVE(Bcast, (void* a, int n, MPI_Datatype t, int r, MPI_Comm c), (a, n, t, r, c))
COLLECTIVE(Allreduce, (const void* a, void* b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c),
           (a, b, n, t, o, c))
COLLECTIVE(Iallreduce,
           (const void* a, void* b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c, MPI_Request* r),
           (a, b, n, t, o, c, r))
COLLECTIVE(Reduce, (const void* a, void* b, int n, MPI_Datatype t, MPI_Op o, int r, MPI_Comm c),
           (a, b, n, t, o, r, c))
COLLECTIVE(Exscan, (const void* a, void* b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c),
           (a, b, n, t, o, c))
COLLECTIVE(Gather,
           (const void* a, int n, MPI_Datatype t, void* b, int m, MPI_Datatype u, int r,
            MPI_Comm c),
           (a, n, t, b, m, u, r, c))
COLLECTIVE(Gatherv,
           (const void* a, int n, MPI_Datatype t, void* b, const int* m, const int* d,
            MPI_Datatype u, int r, MPI_Comm c),
           (a, n, t, b, m, d, u, r, c))
COLLECTIVE(Allgather,
           (const void* a, int n, MPI_Datatype t, void* b, int m, MPI_Datatype u, MPI_Comm c),
           (a, n, t, b, m, u, c))
COLLECTIVE(Allgatherv,
           (const void* a, int n, MPI_Datatype t, void* b, const int* m, const int* d,
            MPI_Datatype u, MPI_Comm c),
           (a, n, t, b, m, d, u, c))
COLLECTIVE(Alltoall,
           (const void* a, int n, MPI_Datatype t, void* b, int m, MPI_Datatype u, MPI_Comm c),
           (a, n, t, b, m, u, c))
COMMUNICATOR(Comm_dup, (MPI_Comm c, MPI_Comm* d), (c, d))
COMMUNICATOR(Comm_split, (MPI_Comm c, int a, int b, MPI_Comm* d), (c, a, b, d))
COMMUNICATOR(Comm_split_type, (MPI_Comm c, int t, int k, MPI_Info i, MPI_Comm* d), (c, t, k, i, d))
COMMUNICATOR(Comm_create, (MPI_Comm c, MPI_Group g, MPI_Comm* d), (c, g, d))
COMMUNICATOR(Comm_create_group, (MPI_Comm c, MPI_Group g, int t, MPI_Comm* d), (c, g, t, d))
