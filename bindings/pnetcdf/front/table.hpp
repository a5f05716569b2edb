// Functions for PnetCDF's names. Each finds out who has the file, and calls the engine or the real
// PnetCDF.
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

/// Returns the program's PnetCDF's function of a name; null if there is none.
/// @param number  in the list of names
void* real_function(int number);

/// Returns the function that the program calls by a name.
void* function_of(int number);

/// The shim that was set.
const thalweg_shim* the_shim();

}  // namespace thalweg::pnetcdf
