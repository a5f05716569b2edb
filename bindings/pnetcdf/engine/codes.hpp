// The conversion of errors to PnetCDF's codes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pnetcdf.h>

#include "nc/base/attempt.hpp"

namespace thalweg::pnetcdf::engine {

// Returns PnetCDF's code for an error of netCDF or of the system. Logs the error's text at level
// info.
int code_for_program(const nc::Error& error);

// Runs an action. @return the code that it returns, or the code of the error that it throws
template <class Action>
int attempt(Action action) {
    return nc::attempt(code_for_program, action);
}

}  // namespace thalweg::pnetcdf::engine
