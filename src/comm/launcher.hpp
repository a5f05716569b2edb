// Whether the processes were started by the MPI with which they are linked.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "comm/status.hpp"

namespace thalweg::detail {

/// The MPI of this process by name and version, as "Open MPI v4.1.4".
std::string mpi_name();

/// TW_EMPI where another MPI's launcher started several processes, of which each takes itself for
/// the only one: all would write the same files. Local.
Status check_launcher();

}  // namespace thalweg::detail
