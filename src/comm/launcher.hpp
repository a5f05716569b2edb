// Facts that the launcher passes to its processes: its MPI, and their number.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/status.hpp"

namespace thalweg::detail {

/// Returns the name and version of this process's MPI, as "Open MPI v4.1.4".
std::string mpi_name();

/// Returns TW_EMPI if the launcher of another MPI has started several processes: each would be
/// alone in its MPI_COMM_WORLD, and all would write the same files. Local.
Status check_launcher();

/// Returns the number of processes of the job on this node, including those of other sessions and
/// components; 0 if the launcher does not set it. Local.
int processes_of_node();

}  // namespace thalweg::detail
