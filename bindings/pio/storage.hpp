// How the variables of a netCDF-4 file are stored: what the program asks for, as settings of the
// library.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "table.hpp"

namespace thalweg::pio {

// Why the library cannot write a netCDF-4 file with these definitions; empty if it can.
std::string beyond_library(const Table& table);

// Whether this is the byte order of the machine.
bool is_native(int endian);

// For tw_set_var; empty if the program has asked for nothing.
std::string settings_of(const Table& table, const Variable& variable);

// What can be told of a variable that is not in the file yet. What the program leaves open is
// decided when the file is made; netCDF's default is told then.
Storage expected_storage(const Table& table, const Variable& variable);

}  // namespace thalweg::pio
