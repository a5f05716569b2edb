// The tables that are registered in netCDF libraries. Each decides for every file if the engine or
// the real library has it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "front/files.hpp"
#include "shim/shim.h"

namespace thalweg::netcdf {

/// For the duration of a scope, marks calls as coming from inside Thalweg, so that the shim passes
/// them on.
class Depth {
public:
    explicit Depth(const thalweg_shim* shim) : depth_(shim->depth()) { ++*depth_; }
    ~Depth() { --*depth_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;

private:
    int* depth_;
};

/// Sets the shim, whose depth each entry raises while it runs. Child processes that are forked
/// later cannot use files of the engine.
void begin_router(const thalweg_shim* shim);

/// Returns the table to register in the library of a given number.
Table registered_table(int library);

/// Returns the functions of the library of a given number.
/// @param handle  handle from dlopen
const Real& real_of(int library, void* handle);

/// Leaves the file of a call to the program's library on all ranks, because this rank does so.
/// @note Collective with the other ranks' calls of the table
void decline(const thalweg_call* made);

/// Tests if this process was forked from the one that called begin_router().
bool in_child();

/// Sets the access of a variable in a file whose calls come to the table.
int set_access(const thalweg_netcdf* library, int id, int variable, int access);

}  // namespace thalweg::netcdf
