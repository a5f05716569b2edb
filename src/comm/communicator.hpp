// Checks and states of the communicators of a session.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "comm/comm.hpp"

namespace thalweg::detail {

/// Returns TW_EMPI for a communicator that a session cannot use, or if MPI is not running. Local.
Status check_communicator(MPI_Comm comm);

/// Tests if two communicators have the same ranks in the same order. Local.
bool has_ranks_of(const Comm& comm, MPI_Comm other);

/// Gives up a communicator and all made from it: later, they are not freed if freeing them would
/// wait for other ranks.
void give_up(Comm& comm);
bool is_given_up(const Comm& comm);

}  // namespace thalweg::detail
