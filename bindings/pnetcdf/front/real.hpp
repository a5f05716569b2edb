// The functions of PnetCDF by the numbers of their names: those of the real library, and those that
// the program calls.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shim/shim.h"

namespace thalweg::pnetcdf {

/// Sets the shim and the functions that the program calls.
void set_functions(const thalweg_shim* shim, void* const* functions);

/// Returns a function of the real PnetCDF; null if the program has none.
/// @param number  number of its name in the list of names
void* real_function(int number);

/// Returns the function that the program calls by a name.
void* function_of(int number);

/// Returns the shim that set_functions() has set.
const thalweg_shim* the_shim();

}  // namespace thalweg::pnetcdf
