// MPI datatypes that describe places in a file.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <vector>

#include "map.hpp"

namespace thalweg::pnetcdf::engine {

// Consecutive bytes of a file.
struct Run {
    nc::Index offset, bytes;
};

// Returns the bytes of one datatype at offset 0, in its order; adjacent ones are joined. Throws
// not_supported for distributed arrays.
std::vector<Run> runs_of(MPI_Datatype datatype);

}  // namespace thalweg::pnetcdf::engine
