// Replaces mpi_comm.cpp in builds without MPI: every communicator is the serial one.
// SPDX-License-Identifier: Apache-2.0
#include "comm/comm.hpp"

namespace thalweg::detail {

bool mpi_is_running() { return false; }

std::unique_ptr<Comm> make_mpi_comm(MPI_Comm) { return make_serial_comm(); }

Status check_communicator(MPI_Comm) { return {}; }

bool has_ranks_of(const Comm&, MPI_Comm) { return false; }

void give_up(Comm&) {}

bool is_given_up(const Comm&) { return false; }

}  // namespace thalweg::detail
