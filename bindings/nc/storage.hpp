// The storage of a netCDF-4 file's variables, as the program asks for it, in the form of the
// library's settings.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "table.hpp"

namespace thalweg::nc {

// Returns the reason why the library cannot write a netCDF-4 file with these definitions; empty if
// it can.
std::string beyond_library(const Table& table);

// Tests if this is the byte order of the machine.
bool is_native(int endian);

// Returns the settings for tw_set_var; empty if the program has not asked for any.
std::string settings_of(const Table& table, const Variable& variable);

// Chooses the chunk lengths that are 0 or missing: 1 along an unlimited dimension, else the whole
// dimension, with the slowest ones reduced to make a chunk of 4 MiB.
std::vector<std::size_t> complete_chunks(const Table& table, const Variable& variable,
                                         std::vector<std::size_t> chunks);

// Returns the expected storage of a variable that is not in the file yet. What the program leaves
// open is decided when the file is made; netCDF's default is returned for it.
Storage expected_storage(const Table& table, const Variable& variable);

}  // namespace thalweg::nc
