// The tables that are registered in netCDF libraries: each chooses for every file who has it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "front/files.hpp"
#include "shim/shim.h"

namespace thalweg::netcdf {

/// Sets the shim; each entry raises its depth while it runs. Child processes made later by fork
/// cannot use files of the engine.
void begin_router(const thalweg_shim* shim);

/// Returns the table to be registered in the library of this number.
Table registered_table(int library);

/// Returns the functions of the library of this number. @param handle  of dlopen
const Real& real_of(int library, void* handle);

/// Tests if this is a child of the process that began the router, made by fork.
bool in_child();

/// Sets the access of a variable of a file whose calls come to the table.
int route_var_par_access(int library, int id, int variable, int access);

}  // namespace thalweg::netcdf
