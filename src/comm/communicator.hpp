// What a session asks of the communicators that it is given and makes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "comm/comm.hpp"

namespace thalweg::detail {

/// Whether MPI has been started, and not ended. Local.
bool mpi_is_running();

/// TW_EMPI for what is no communicator for a session, or where MPI is not running. Local.
Status check_communicator(MPI_Comm comm);

/// Whether a communicator has the same ranks in the same order. Local.
bool has_ranks_of(const Comm& comm, MPI_Comm other);

/// From now on nothing of this communicator is freed that takes the other ranks, nor of those that
/// were made from it.
void give_up(Comm& comm);
bool is_given_up(const Comm& comm);

}  // namespace thalweg::detail
