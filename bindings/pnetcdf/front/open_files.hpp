// The open files of a program by PnetCDF's ids: the engine's, and those of the real library.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "pnetcdf/engine/file.hpp"
#include "shim/shim.h"

namespace thalweg::pnetcdf {

/// An open file. Several ids may have the same one of the engine.
struct OpenFile {
    std::shared_ptr<engine::File> file;  ///< null: the real library has it
    int inner = -1;                      ///< by which the real library knows it
};

/// Returns the file of an id; null if there is none.
const OpenFile* find_file(int id);

/// Notes a file. @param id  -1: the lowest that is free, as PnetCDF does
/// @return its id; -1 if there are too many files
int add_file(OpenFile file, int id = -1);

OpenFile remove_file(int id);

std::vector<int> open_ids();

/// Returns the file of the engine that is open with this path for writing; null if there is none.
std::shared_ptr<engine::File> find_written(const std::string& path, MPI_Comm comm);

/// Keeps calls that are made inside from coming back to the shim.
class Depth {
public:
    explicit Depth(const thalweg_shim* shim) : depth_(shim->depth()) { ++*depth_; }
    ~Depth() { --*depth_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;

private:
    int* depth_;
};

}  // namespace thalweg::pnetcdf
