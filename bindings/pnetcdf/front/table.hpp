// Functions for PnetCDF's names: each finds who has the file, and calls the engine or the real one.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shim/shim.h"

namespace thalweg::pnetcdf {

/// Sets the shim, takes over the files that the real library has open, and returns the functions
/// in the order of their names. @param count  receives their number
void* const* begin(const thalweg_shim* shim, int* count);

/// Ends the process's part: it exits.
void finish();

/// Returns the function that a program reaches by a name. @param number  in the list of names
void* real_function(int number);

/// The shim that was set.
const thalweg_shim* the_shim();

}  // namespace thalweg::pnetcdf
