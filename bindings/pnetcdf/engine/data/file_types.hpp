// MPI datatypes that describe places in a file.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <vector>

#include "nc/base/shape.hpp"

namespace thalweg::pnetcdf::engine {

// The arguments with which a datatype was made; none for a predefined one.
struct TypeContents {
    explicit TypeContents(MPI_Datatype type);
    ~TypeContents();
    TypeContents(const TypeContents&) = delete;
    TypeContents& operator=(const TypeContents&) = delete;

    bool predefined() const { return combiner == MPI_COMBINER_NAMED; }

    int combiner = 0;
    std::vector<int> n;
    std::vector<MPI_Aint> at;
    std::vector<MPI_Datatype> inner;
};

// Returns netCDF's type of a predefined datatype of MPI; NC_NAT if there is none.
int type_of(MPI_Datatype datatype);

// Returns the type of a datatype's elements. Throws if they have several types, or an unknown one.
int element_of(MPI_Datatype datatype);

// Consecutive bytes of a file.
struct Run {
    nc::Index offset, bytes;
};

// Returns the runs of bytes that one element of a datatype at offset 0 covers, in the datatype's
// order. Adjacent runs are joined. Throws NC_ENOTSUPPORT for distributed arrays.
std::vector<Run> runs_of(MPI_Datatype datatype);

}  // namespace thalweg::pnetcdf::engine
