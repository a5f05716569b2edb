// Functions for PnetCDF's names. Each calls either the engine or the real PnetCDF, whichever has
// the file open. The number of a function is that of its name in the list of names.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shim/shim.h"

namespace thalweg::pnetcdf {

/// Sets the shim, takes over the files that the real PnetCDF has open, and returns the functions in
/// the order of their names.
/// @param count  receives the number of functions
void* const* begin(const thalweg_shim* shim, int* count);

/// Must be called when the process exits.
void finish();

/// Returns a function of the real PnetCDF; null if the program has none.
void* real_function(int number);

/// Returns the function that the program calls by a name.
void* function_of(int number);

/// Returns the shim that begin() has set.
const thalweg_shim* the_shim();

}  // namespace thalweg::pnetcdf
