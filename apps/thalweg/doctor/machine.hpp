// Processors, memory and limits of the nodes on which ranks run.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "comm/comm.hpp"
#include "doctor/findings.hpp"

namespace thalweg::app {

/// The nodes of a job.
struct Nodes {
    int count = 1;
    int ranks = 1;       ///< number of ranks on this node
    bool first = false;  ///< this rank is the first one of its node
};

/// Finds the nodes of the job. @note Collective
Nodes find_nodes(detail::Comm& comm);

/// Adds findings about the processors and memory of this rank's node. @note Local
void check_machine(const Nodes& nodes, Diagnoses& found);

}  // namespace thalweg::app
