// PnetCDF's functions for the header of a file that the engine has open. They take the file in
// place of its id. Functions for data are in data_calls.hpp.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <netcdf.h>
#include <pnetcdf.h>

#include "pnetcdf/engine/file.hpp"

namespace thalweg::pnetcdf::engine {

// The type of a function of PnetCDF with the file in place of its id. It throws errors.
template <class Function>
struct WithFile;

template <class... A>
struct WithFile<int(int, A...)> {
    using Type = void(File&, A...);
};

namespace calls {

#define PLAIN(...)
#define OPENING(...)
#define FILES(...)
#define DATA(...)
#define OF_FILE(name, ...) WithFile<decltype(::name)>::Type name;
#include "pnetcdf_names.inc"

}  // namespace calls

// Returns a name that a program has passed. Throws if it is missing or too long.
const char* checked(const char* name);

}  // namespace thalweg::pnetcdf::engine
