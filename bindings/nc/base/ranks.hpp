// Collective operations of the ranks of a session. MPI_COMM_NULL stands for a process by itself, in
// which MPI need not run.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace thalweg::nc {

// Tests if MPI has been initialized, and not finalized.
inline bool mpi_runs() {
    int began = 0, ended = 0;
    MPI_Initialized(&began);
    if (began != 0) MPI_Finalized(&ended);
    return began != 0 && ended == 0;
}

inline int rank_in(MPI_Comm comm) {
    int rank = 0;
    if (comm != MPI_COMM_NULL) MPI_Comm_rank(comm, &rank);
    return rank;
}

inline int size_of_comm(MPI_Comm comm) {
    int ranks = 1;
    if (comm != MPI_COMM_NULL) MPI_Comm_size(comm, &ranks);
    return ranks;
}

template <class T>
MPI_Datatype mpi_type() {
    if constexpr (std::is_same_v<T, int>) return MPI_INT;
    if constexpr (std::is_same_v<T, std::int64_t>) return MPI_INT64_T;
    if constexpr (std::is_same_v<T, std::uint64_t>) return MPI_UINT64_T;
    return MPI_BYTE;
}

// Combines the values of all ranks in place.
// @note Collective
template <class T>
void reduce(MPI_Comm comm, MPI_Op operation, T* values, std::size_t n) {
    if (comm != MPI_COMM_NULL)
        MPI_Allreduce(MPI_IN_PLACE, values, static_cast<int>(n), mpi_type<T>(), operation, comm);
}

// Copies the values of one rank to all ranks.
// @note Collective
template <class T>
void share(MPI_Comm comm, int root, T* values, std::size_t n) {
    if (comm != MPI_COMM_NULL) MPI_Bcast(values, static_cast<int>(n), mpi_type<T>(), root, comm);
}

}  // namespace thalweg::nc
