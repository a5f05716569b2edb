// Functions for PnetCDF's names. Each calls either the engine or the real PnetCDF, whichever has
// the file open.
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

}  // namespace thalweg::pnetcdf
