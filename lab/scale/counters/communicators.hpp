// Creates communicators. SMPI's own functions give every rank a list of all ranks, and let one rank
// wait for all others at once: gigabytes and minutes on 16,384 ranks. In simulations, these take
// their place: the ranks of a new communicator share one list, as they share the process.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

namespace thalweg::scale {

/// Duplicates a communicator without its attributes, otherwise as MPI_Comm_dup.
/// @note Collective
int duplicate(MPI_Comm comm, MPI_Comm* made);

/// Splits a communicator as MPI_Comm_split does.
/// @note Collective
int split(MPI_Comm comm, int color, int key, MPI_Comm* made);

}  // namespace thalweg::scale
