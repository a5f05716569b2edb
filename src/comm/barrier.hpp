// A barrier that a rank enters while it goes on with other things.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <functional>

namespace thalweg::detail {

/// Enters it. @return what tells whether all ranks have: to be called until it says so, and then no
/// more. Takes no memory. @note Collective
std::function<bool()> begin_barrier(MPI_Comm comm);

}  // namespace thalweg::detail
