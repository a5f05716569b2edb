// What the launcher tells its processes: whether they are linked with its MPI, how many they are.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/status.hpp"

namespace thalweg::detail {

/// The MPI of this process by name and version, as "Open MPI v4.1.4".
std::string mpi_name();

/// TW_EMPI where another MPI's launcher started several processes, of which each takes itself for
/// the only one: all would write the same files. Local.
Status check_launcher();

/// Processes of the job on this node, as far as the launcher tells: sessions and components of
/// which this one knows nothing are among them. 0: it does not tell. Local.
int processes_of_node();

}  // namespace thalweg::detail
