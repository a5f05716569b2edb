// SPDX-License-Identifier: Apache-2.0
#include "counters.hpp"

#include <mpi.h>

#include <map>

#include "communicators.hpp"
#include "heap.hpp"

namespace {

using thalweg::scale::Counts;
using thalweg::scale::HeapPause;

/// Returns the counts of this rank. In a simulation, all ranks are in one process, but run one at a
/// time.
Counts& counts() {
    static std::map<int, Counts> all;
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return all[rank];
}

std::int64_t bytes_of(int count, MPI_Datatype type) {
    int size = 0;
    PMPI_Type_size(type, &size);
    return static_cast<std::int64_t>(count) * size;
}

void sent(int count, MPI_Datatype type) {
    Counts& mine = counts();
    ++mine.messages;
    mine.message_bytes += bytes_of(count, type);
}

void joined(int count, MPI_Datatype type) {
    Counts& mine = counts();
    ++mine.collectives;
    mine.collective_bytes += bytes_of(count, type);
}

bool is_root(int root, MPI_Comm comm) {
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    return rank == root;
}

}  // namespace

extern "C" {

thalweg::scale::Counts* scale_counts() { return &counts(); }

thalweg::scale::StorageCounts* scale_storage() {
    static thalweg::scale::StorageCounts counts;
    return &counts;
}

int MPI_Isend(const void* data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
    sent(n, type);
    const HeapPause pause;
    return PMPI_Isend(data, n, type, to, tag, comm, request);
}

int MPI_Issend(const void* data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request* request) {
    sent(n, type);
    const HeapPause pause;
    return PMPI_Issend(data, n, type, to, tag, comm, request);
}

int MPI_Recv(void* data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status* status) {
    ++counts().received;
    const HeapPause pause;
    return PMPI_Recv(data, n, type, from, tag, comm, status);
}

int MPI_Barrier(MPI_Comm comm) {
    joined(0, MPI_BYTE);
    const HeapPause pause;
    return PMPI_Barrier(comm);
}

int MPI_Bcast(void* data, int n, MPI_Datatype type, int root, MPI_Comm comm) {
    joined(is_root(root, comm) ? n : 0, type);
    const HeapPause pause;
    return PMPI_Bcast(data, n, type, root, comm);
}

int MPI_Allreduce(const void* from, void* to, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    joined(n, type);
    const HeapPause pause;
    return PMPI_Allreduce(from, to, n, type, op, comm);
}

int MPI_Reduce(const void* from, void* to, int n, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm) {
    joined(n, type);
    const HeapPause pause;
    return PMPI_Reduce(from, to, n, type, op, root, comm);
}

int MPI_Exscan(const void* from, void* to, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    joined(n, type);
    const HeapPause pause;
    return PMPI_Exscan(from, to, n, type, op, comm);
}

int MPI_Gather(const void* from, int n, MPI_Datatype type, void* to, int m, MPI_Datatype into,
               int root, MPI_Comm comm) {
    joined(n, type);
    const HeapPause pause;
    return PMPI_Gather(from, n, type, to, m, into, root, comm);
}

int MPI_Gatherv(const void* from, int n, MPI_Datatype type, void* to, const int* counts,
                const int* starts, MPI_Datatype into, int root, MPI_Comm comm) {
    joined(n, type);
    const HeapPause pause;
    return PMPI_Gatherv(from, n, type, to, counts, starts, into, root, comm);
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) {
    ++counts().communicators;
    const HeapPause pause;
    return thalweg::scale::duplicate(comm, made);
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made) {
    ++counts().communicators;
    const HeapPause pause;
    return thalweg::scale::split(comm, color, key, made);
}

int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made) {
    ++counts().communicators;
    const HeapPause pause;
    return PMPI_Comm_split_type(comm, type, key, info, made);
}

}  // extern "C"
