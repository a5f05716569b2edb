// The open files of a program by PnetCDF's ids: the engine's, and those of the real library.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "front/router.hpp"
#include "pnetcdf/engine/file.hpp"
#include "shim/shim.h"

namespace thalweg::pnetcdf {

/// An open file. Several ids may share one file of the engine.
struct OpenFile {
    /// null: the file is open in the real PnetCDF.
    std::shared_ptr<engine::File> file = nullptr;
    std::unique_ptr<engine::Handle> handle = nullptr;  ///< state of this id in the engine
    int inner = -1;                                    ///< id of the file in the real PnetCDF
};

/// Returns the file with an id; null if there is none.
const OpenFile* find_file(int id);

/// Registers a file.
/// @param id  -1: the lowest free id, as in PnetCDF
/// @return the file's id; -1 if there are too many files
int add_file(OpenFile file, int id = -1);

OpenFile remove_file(int id);

std::vector<int> open_ids();

/// Returns the number in its session of a file that is open with this path; -1 if there is none.
/// @param writing  find only files that are open for writing
long find_open(const std::string& path, MPI_Comm comm, bool writing);

/// Returns the file whose number find_open() has returned.
std::shared_ptr<engine::File> open_file(long number, MPI_Comm comm);

using netcdf::Depth;

}  // namespace thalweg::pnetcdf
