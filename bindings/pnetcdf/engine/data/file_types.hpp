// MPI datatypes that describe places in a file.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <vector>

#include "nc/base/shape.hpp"

namespace thalweg::pnetcdf::engine {

// Consecutive bytes of a file.
struct Run {
    nc::Index offset, bytes;
};

// Returns the runs of bytes that one element of a datatype at offset 0 covers, in the datatype's
// order. Adjacent runs are joined. Throws NC_ENOTSUPPORT for distributed arrays.
std::vector<Run> runs_of(MPI_Datatype datatype);

}  // namespace thalweg::pnetcdf::engine
