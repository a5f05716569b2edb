// The numbers of PnetCDF's names in the list that the build makes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace thalweg::pnetcdf {

enum Number {
#define PLAIN(name, arguments) number_of_##name,
#define OF_FILE(name, arguments) number_of_##name,
#define OPENING(name, arguments) number_of_##name,
#define DATA(name, arguments, ...) number_of_##name,
#include "pnetcdf_names.inc"
#undef PLAIN
#undef OF_FILE
#undef OPENING
#undef DATA
    number_of_names
};

/// Returns the function that the program calls by the name with this number.
void* function_of(int number);

}  // namespace thalweg::pnetcdf
