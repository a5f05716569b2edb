// The storage of a netCDF-4 file's variables, as the program asks for it, in the form of the
// library's settings.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "nc/definitions/table.hpp"

namespace thalweg::nc {

// Returns the reason why the library cannot write a netCDF-4 file with these definitions; empty if
// it can.
std::string beyond_library(const Table& table);

// Tests if a byte order is that of this machine.
bool is_native(int endian);

// Returns the settings of a variable for tw_set_var; empty if the program has not set any.
std::string settings_of(const Table& table, const Variable& variable);

// Chooses the chunk lengths that are 0 or missing: 1 along an unlimited dimension, otherwise the
// length of the dimension. The slowest lengths are reduced, so that a chunk has at most 4 MiB.
std::vector<std::size_t> complete_chunks(const Table& table, const Variable& variable,
                                         std::vector<std::size_t> chunks);

// Returns the storage that a variable will have which is not in the file yet. For properties that
// are chosen only when the file is made, returns netCDF's defaults.
Storage expected_storage(const Table& table, const Variable& variable);

}  // namespace thalweg::nc
